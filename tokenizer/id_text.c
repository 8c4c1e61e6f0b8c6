#include "tokenizer/id_text.h"

#include <string.h>

#include "base/ini.h"
#include "tokenizer/vocabulary.h"

static void write_number(FILE *out, int number) {
    char digits[12];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    fwrite_unlocked(digits + at, 1, sizeof digits - at, out);
}

void id_text_write(FILE *out, const Tokenizer *tokenizer, const IdList *ids, IdForm form) {
    for (size_t i = 0; i < ids->count; i++) {
        int id = ids->ids[i];
        if (i > 0) putc_unlocked(' ', out);
        if (form == ID_FORM_NUMBERS)
            write_number(out, id);
        else
            fwrite_unlocked(string_map_text(&tokenizer->pieces, id), 1, tokenizer->pieces.entries[id].length, out);
    }
}

/* The number text[0..length) says, below `most`; -1 otherwise. */
static int read_number(const char *text, size_t length, int most) {
    int64_t number = 0;
    for (size_t i = 0; i < length && number < most; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number < most ? (int)number : -1;
}

static bool read_one(IdList *ids, const Tokenizer *tokenizer, const char *text, size_t length, IdForm form,
                     Error *error) {
    char shown[80];
    int size = tokenizer->pieces.count;
    bool numbers = form == ID_FORM_NUMBERS;
    int id = numbers ? read_number(text, length, size) : string_map_find(&tokenizer->pieces, text, length);
    if (id >= 0) {
        id_list_push(ids, id);
        return true;
    }
    ini_quote(shown, text, length);
    if (numbers) return error_set(error, "\"%s\" is no id; give numbers from 0 to %d", shown, size - 1);
    return error_set(error, "\"%s\" is no piece of the vocabulary; was it made with another tokenizer?", shown);
}

bool id_text_read(IdList *ids, const Tokenizer *tokenizer, Line line, IdForm form, Error *error) {
    for (size_t i = 0, n; i < line.length; i += n) {
        const char *text = line.text + i, *space = memchr(text, ' ', line.length - i);
        n = space ? (size_t)(space - text) : line.length - i;
        if (n == 0)
            n = 1;
        else if (!read_one(ids, tokenizer, text, n, form, error))
            return false;
    }
    return true;
}
