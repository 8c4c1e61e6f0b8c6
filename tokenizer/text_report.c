#include "tokenizer/text_report.h"

#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/memory.h"
#include "tokenizer/normalize.h"
#include "tokenizer/utf8.h"

bool text_report_invalid(char out[TEXT_REPORT_BYTES], const char *path, const Lines *lines) {
    size_t invalid = 0, line = 0, byte = 0;
    for (size_t i = 0; i < lines->count; i++) {
        size_t valid = utf8_valid_length(lines->line[i].text, lines->line[i].length);
        if (valid == lines->line[i].length || invalid++ > 0) continue;
        line = i + 1;
        byte = valid + 1;
    }
    snprintf(out, TEXT_REPORT_BYTES, "%.900s:%zu:%zu: not UTF-8 (%zu such lines)", path, line, byte, invalid);
    return invalid > 0;
}

static bool same_text(const Normalizer *a, const Normalizer *b) {
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* Start of the first character in which two texts differ, and of the word that holds it. */
static size_t first_difference(const Normalizer *a, const Normalizer *b, size_t *word) {
    size_t i = 0;
    while (i < a->length && i < b->length && a->text[i] == b->text[i]) i++;
    while (i > 0 && (a->text[i] & 0xC0) == 0x80) i--;
    const size_t mark = sizeof WORD_MARK - 1;
    *word = i;
    while (*word > 0 && (*word < mark || memcmp(a->text + *word - mark, WORD_MARK, mark) != 0)) --*word;
    return i;
}

/* The word at `start` of a normalised text, for a message, and the first of its characters that is another one. */
static int32_t describe(char word[80], const Normalizer *n, size_t start, size_t difference) {
    int32_t code = 0;
    ini_quote(word, n->text + start, start < n->length ? word_length(n->text + start, n->length - start) : 0);
    if (difference < n->length) utf8_next(n->text + difference, n->length - difference, &code);
    return code;
}

static void describe_change(char out[256], size_t line, const Normalizer *plain, const Normalizer *asked) {
    char before[80], after[80];
    size_t word, difference = first_difference(plain, asked, &word);
    int32_t from = describe(before, plain, word, difference), to = describe(after, asked, word, difference);
    snprintf(out, 256, "; in line %zu \"%s\" becomes \"%s\", U+%04X to U+%04X", line, before, after, (unsigned)from,
             (unsigned)to);
}

void text_report_changes(char out[TEXT_REPORT_BYTES], const Lines *lines, Normalization form, bool lowercase) {
    static const char *const names[] = {"", "nfc", "nfkc"};
    Normalizer plain = {.form = NORMALIZATION_NONE}, asked = {.form = form, .lowercase = lowercase};
    char example[256] = "", count[32] = "none";
    size_t changed = 0;
    for (size_t i = 0; i < lines->count; i++) {
        normalize(&plain, lines->line[i].text, lines->line[i].length);
        normalize(&asked, lines->line[i].text, lines->line[i].length);
        if (same_text(&plain, &asked)) continue;
        if (changed++ == 0) describe_change(example, i + 1, &plain, &asked);
    }
    if (changed > 0) snprintf(count, sizeof count, "%zu", changed);
    snprintf(out, TEXT_REPORT_BYTES, "%s%s%s changes %s of %zu lines%s", names[form], form && lowercase ? " and " : "",
             lowercase ? "lowercase" : "", count, lines->count, example);
    normalizer_free(&plain);
    normalizer_free(&asked);
}
