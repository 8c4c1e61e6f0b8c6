#include "tokenizer/normalize.h"

#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "tokenizer/utf8.h"

enum { LONGEST_DECOMPOSITION = 32 }; /* code points of one character; Unicode has at most 18 */

void normalizer_free(Normalizer *n) {
    memory_free(n->text);
    memory_free(n->codes);
    n->text = NULL;
    n->codes = NULL;
}

static void reserve_text(Normalizer *n, size_t capacity) {
    if (capacity <= n->capacity) return;
    memory_free(n->text);
    n->capacity = capacity + capacity / 2;
    n->text = memory_alloc(n->capacity, 1, "normalised text");
}

static void reserve_codes(Normalizer *n, size_t used, size_t more) {
    if (used + more <= n->code_capacity) return;
    size_t capacity = (used + more) * 2;
    n->codes = memory_grow(n->codes, used, capacity, sizeof *n->codes, "normalised text");
    n->code_capacity = capacity;
}

/* Writes a character, lowered if asked and a space as the mark; up to 4 bytes. U+0130 is the only one that
 * Unicode lowers to two (SpecialCasing.txt), of which utf8proc's simple mapping gives the first. */
static void append(Normalizer *n, int32_t code) {
    char *out = n->text + n->length;
    int32_t lower = n->lowercase ? utf8proc_tolower(code) : code;
    n->length += utf8_put(out, code == ' ' ? CODE_WORD_MARK : lower);
    if (n->lowercase && code == 0x130) n->length += utf8_put(n->text + n->length, 0x307);
}

static bool is_ascii(const char *text, size_t length) {
    unsigned char all = 0;
    for (size_t i = 0; i < length; i++) all |= (unsigned char)text[i];
    return all < 0x80;
}

/* Canonical order: sorts the marks [begin, end), all of a class above 0, by class and keeps the order within
 * a class. By counting, since a hostile text may be one long run of them. */
static void sort_marks(int32_t *begin, int32_t *end, int32_t *scratch) {
    size_t place[257] = {0}, count = (size_t)(end - begin);
    for (size_t i = 0; i < count; i++) place[utf8proc_get_property(begin[i])->combining_class + 1]++;
    for (size_t c = 0; c < 256; c++) place[c + 1] += place[c];
    for (size_t i = 0; i < count; i++) scratch[place[utf8proc_get_property(begin[i])->combining_class]++] = begin[i];
    memcpy(begin, scratch, count * sizeof *begin);
}

static void sort_all_marks(Normalizer *n, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t run = i;
        while (run < count && utf8proc_get_property(n->codes[run])->combining_class > 0) run++;
        if (run - i < 2) continue;
        reserve_codes(n, count, run - i);
        sort_marks(n->codes + i, n->codes + run, n->codes + count);
        i = run;
    }
}

/* NFC or NFKC (Unicode Standard Annex 15): decompose, order the marks, compose. Returns the number of codes. */
static size_t compose(Normalizer *n, const char *text, size_t length) {
    utf8proc_option_t options = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE;
    if (n->form == NORMALIZATION_NFKC) options |= UTF8PROC_COMPAT;
    size_t count = 0;
    for (size_t i = 0; i < length;) {
        int32_t code;
        int boundary = 0;
        i += utf8_next(text + i, length - i, &code);
        reserve_codes(n, count, LONGEST_DECOMPOSITION);
        count += (size_t)utf8proc_decompose_char(code < 0 ? CODE_REPLACEMENT : code, n->codes + count,
                                                 LONGEST_DECOMPOSITION, options, &boundary);
    }
    sort_all_marks(n, count);
    return (size_t)utf8proc_normalize_utf32(n->codes, (utf8proc_ssize_t)count, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
}

void normalize(Normalizer *n, const char *text, size_t length) {
    n->length = 0;
    if (length == 0) return;
    bool composing = n->form != NORMALIZATION_NONE && !is_ascii(text, length);
    size_t count = composing ? compose(n, text, length) : 0;
    reserve_text(n, 4 * (composing ? count : length) + sizeof WORD_MARK);
    append(n, ' ');
    for (size_t i = 0; i < count; i++) append(n, n->codes[i]);
    if (composing) return;
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x80 && byte != ' ' && !n->lowercase) { /* most of most texts */
            n->text[n->length++] = text[i++];
            continue;
        }
        int32_t code;
        i += utf8_next(text + i, length - i, &code);
        append(n, code < 0 ? CODE_REPLACEMENT : code);
    }
}

size_t word_length(const char *text, size_t length) {
    const size_t mark = sizeof WORD_MARK - 1;
    size_t limit = length < WORD_LIMIT ? length : WORD_LIMIT;
    for (size_t i = 1; i < limit; i++) {
        const char *next = memchr(text + i, WORD_MARK[0], limit - i);
        if (next == NULL) break;
        i = (size_t)(next - text);
        if (length - i >= mark && memcmp(next, WORD_MARK, mark) == 0) return i;
    }
    while (limit < length && limit > 1 && (text[limit] & 0xC0) == 0x80) limit--; /* whole characters */
    return limit;
}
