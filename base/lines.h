/* Text as lines. Only \n ends a line; NUL, U+2028, vertical tab and a lone CR are ordinary characters. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Line {
    const char *text; /* not NUL-terminated */
    size_t length;
} Line;

typedef struct Lines {
    char *bytes; /* all text, owned */
    Line *line;  /* [count], pointing into bytes */
    size_t count;
    bool had_bom, had_cr; /* a byte order mark or trailing \r was dropped */
} Lines;

/* Takes ownership of bytes[0..size) (from memory_alloc). A last line without \n counts. */
void lines_split(Lines *lines, char *bytes, size_t size);
void lines_free(Lines *lines);

bool line_equal(Line a, Line b); /* byte for byte */

/* Nothing but white space: ASCII's, NUL, and Unicode's spaces, line separators and zero-width space. */
bool line_is_blank(Line line);

#endif
