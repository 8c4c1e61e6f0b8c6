#include "base/lines.h"

#include <string.h>

#include "base/memory.h"

void lines_split(Lines *lines, char *bytes, size_t size) {
    *lines = (Lines){.bytes = bytes};
    const char *p = bytes, *end = bytes + size;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        p += 3;
        lines->had_bom = true;
    }
    size_t most = 1;
    for (const char *q = p; q < end; q++) most += *q == '\n';
    lines->line = memory_alloc(most, sizeof *lines->line, "lines of text");
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        size_t length = (size_t)(stop - p);
        if (length > 0 && p[length - 1] == '\r') {
            length--;
            lines->had_cr = true;
        }
        lines->line[lines->count++] = (Line){p, length};
        p = stop + 1;
    }
}

void lines_free(Lines *lines) {
    memory_free(lines->bytes);
    memory_free(lines->line);
    *lines = (Lines){0};
}

bool line_equal(Line a, Line b) { return a.length == b.length && memcmp(a.text, b.text, a.length) == 0; }

/* Bytes of the space that starts text[0..length), or 0. */
static size_t space_length(const char *text, size_t length) {
    static const char *const wide[] = {
        "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", /* next line, no-break, ogham */
        "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", /* line and paragraph separator, narrow no-break */
        "\xE2\x81\x9F", "\xE3\x80\x80", "\xEF\xBB\xBF"  /* mathematical, ideographic, zero-width no-break */
    };
    unsigned char first = (unsigned char)text[0];
    if (first == ' ' || first == '\0' || (first >= '\t' && first <= '\r')) return 1;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        size_t n = strlen(wide[i]);
        if (n <= length && memcmp(text, wide[i], n) == 0) return n;
    }
    bool general = length >= 3 && memcmp(text, "\xE2\x80", 2) == 0; /* U+2000 .. U+200B */
    return general && (unsigned char)text[2] >= 0x80 && (unsigned char)text[2] <= 0x8B ? 3 : 0;
}

bool line_is_blank(Line line) {
    size_t at = 0, n;
    while (at < line.length && (n = space_length(line.text + at, line.length - at)) > 0) at += n;
    return at == line.length;
}
