#include "scores/symbols.h"

#include <utf8proc.h>

#include "base/memory.h"
#include "tokenizer/utf8.h"

enum { CAPITAL_I_DOT = 0x130, DOT_ABOVE = 0x307, CAPITAL_SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };

void symbols_begin(Symbols *s, size_t most) {
    s->count = 0;
    if (most < s->capacity) return; /* even an empty one has memory: no null pointer goes to memset */
    memory_free(s->at);
    s->capacity = most + most / 2 + 1;
    s->at = memory_alloc(s->capacity, sizeof *s->at, "characters of a line to score");
}

void symbols_free(Symbols *s) {
    memory_free(s->at);
    *s = (Symbols){0};
}

void symbols_swap(Symbols *a, Symbols *b) {
    Symbols keep = *a;
    *a = *b;
    *b = keep;
}

bool code_is_space(int32_t code) {
    if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r') || (code >= 0x1C && code <= 0x1F);
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/* Unicode's Case_Ignorable: marks, formats, modifiers, and the punctuation that may stand inside a word. */
static bool is_case_ignorable(int32_t code) {
    switch (code) {
    case '\'':
    case '.':
    case ':':
    case 0xB7:
    case 0x387:
    case 0x55F:
    case 0x5F4:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
    case 0xFE13:
    case 0xFE52:
    case 0xFE55:
    case 0xFF07:
    case 0xFF0E:
    case 0xFF1A:
        return true;
    }
    utf8proc_category_t c = utf8proc_category(code);
    return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME || c == UTF8PROC_CATEGORY_CF ||
           c == UTF8PROC_CATEGORY_LM || c == UTF8PROC_CATEGORY_SK;
}

/* Unicode's Cased, for characters that are not Case_Ignorable: letters with case, ordinal indicators, Roman numerals,
 * letters in circles and squares. */
static bool is_cased(int32_t code) {
    utf8proc_category_t c = utf8proc_category(code);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT || code == 0xAA ||
           code == 0xBA || (code >= 0x2160 && code <= 0x217F) || (code >= 0x24B6 && code <= 0x24E9) ||
           (code >= 0x1F130 && code <= 0x1F149) || (code >= 0x1F150 && code <= 0x1F169) ||
           (code >= 0x1F170 && code <= 0x1F189);
}

/* After a cased letter and not before one, ignorable characters aside. */
static bool sigma_is_final(const Symbols *s, size_t i) {
    size_t before = i, after = i + 1;
    while (before > 0 && is_case_ignorable(s->at[before - 1])) before--;
    if (before == 0 || !is_cased(s->at[before - 1])) return false;
    while (after < s->count && is_case_ignorable(s->at[after])) after++;
    return after == s->count || !is_cased(s->at[after]);
}

static void lower(Symbols *out, const Symbols *text) {
    symbols_begin(out, 2 * text->count);
    for (size_t i = 0; i < text->count; i++) {
        int32_t code = text->at[i];
        if (code == CAPITAL_SIGMA && sigma_is_final(text, i)) {
            symbols_push(out, FINAL_SIGMA);
        } else {
            symbols_push(out, utf8proc_tolower(code));
            if (code == CAPITAL_I_DOT) symbols_push(out, DOT_ABOVE);
        }
    }
}

void symbols_read(Symbols *out, Symbols *scratch, Line line, bool lowercase) {
    Symbols *text = lowercase ? scratch : out;
    symbols_begin(text, line.length);
    for (size_t i = 0; i < line.length;) {
        int32_t code;
        i += utf8_next(line.text + i, line.length - i, &code);
        symbols_push(text, code < 0 ? CODE_REPLACEMENT : code);
    }
    while (text->count > 0 && code_is_space(text->at[text->count - 1])) text->count--;
    if (lowercase) lower(out, text);
}
