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
