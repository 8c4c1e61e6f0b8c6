#include "tokenizer/text_report.h"

#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/memory.h"
#include "tokenizer/normalize.h"
#include "tokenizer/utf8.h"

void invalid_text_add(InvalidText *t, size_t number, Line line) {
    size_t valid = utf8_valid_length(line.text, line.length);
    if (valid == line.length || t->lines++ > 0) return;
    t->line = number;
    t->byte = valid + 1;
}

void invalid_text_describe(char out[TEXT_REPORT_BYTES], const InvalidText *t, const char *path) {
    snprintf(out, TEXT_REPORT_BYTES, "%.900s:%zu:%zu: not UTF-8 (%zu such line%s)", path, t->line, t->byte, t->lines,
             t->lines == 1 ? "" : "s");
}

bool text_report_invalid(char out[TEXT_REPORT_BYTES], const char *path, const Lines *lines) {
    InvalidText invalid = {0};
    for (size_t i = 0; i < lines->count; i++) invalid_text_add(&invalid, i + 1, lines->line[i]);
    if (lines->had_bom && invalid.line == 1) invalid.byte += 3; /* the mark's, which the line no longer has */
    invalid_text_describe(out, &invalid, path);
    return invalid.lines > 0;
}

static bool same_text(const Normalizer *a, const Normalizer *b) {
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

enum { MARK = sizeof WORD_MARK - 1 };

static bool at_mark(const Normalizer *n, size_t i) {
    return i + MARK <= n->length && memcmp(n->text + i, WORD_MARK, MARK) == 0;
}

/* Start of the first character in which two texts differ. */
static size_t first_difference(const Normalizer *a, const Normalizer *b) {
    size_t i = 0;
    while (i < a->length && i < b->length && a->text[i] == b->text[i]) i++;
    while (i > 0 && i < a->length && (a->text[i] & 0xC0) == 0x80) i--;
    return i;
}

/* The word around the character at `at`, for a message; returns the character. */
static int32_t describe(char out[80], const Normalizer *n, size_t at) {
    char word[80];
    size_t start = at, used = 0;
    int32_t code = 0;
    while (start > MARK && !at_mark(n, start - MARK)) start--;
    size_t end = at < n->length ? at + utf8_next(n->text + at, n->length - at, &code) : at;
    while (end < n->length && !at_mark(n, end)) end++;
    for (size_t i = start; i < end && used < sizeof word; i += at_mark(n, i) ? MARK : 1)
        word[used++] = at_mark(n, i) ? ' ' : n->text[i];
    ini_quote(out, word, used);
    return code == CODE_WORD_MARK ? ' ' : code;
}

static void describe_change(char out[256], size_t line, const Normalizer *plain, const Normalizer *asked) {
    char before[80], after[80];
    size_t difference = first_difference(plain, asked);
    int32_t from = describe(before, plain, difference), to = describe(after, asked, difference);
    snprintf(out, 256, "; line %zu: \"%s\" becomes \"%s\", U+%04X to U+%04X", line, before, after, (unsigned)from,
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
    snprintf(out, TEXT_REPORT_BYTES, "%s%s%s: %s of %zu lines changed%s", names[form], form && lowercase ? " and " : "",
             lowercase ? "lowercase" : "", count, lines->count, example);
    normalizer_free(&plain);
    normalizer_free(&asked);
}
