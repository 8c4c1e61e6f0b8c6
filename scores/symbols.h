/* A text as a sequence of numbers: its code points, or later its words. What sacreBLEU does to a Python str is done here
 * to code points, so this file follows Python's ideas of white space and lower case. */
#ifndef SCORES_SYMBOLS_H
#define SCORES_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lines.h"

typedef struct Symbols {
    int32_t *at; /* [count] */
    size_t count, capacity;
} Symbols;

/* Empties it and makes room for `most`; what is written then needs no further check. A zeroed one is empty. */
void symbols_begin(Symbols *s, size_t most);
void symbols_free(Symbols *s);
void symbols_swap(Symbols *a, Symbols *b);

static inline void symbols_push(Symbols *s, int32_t symbol) { s->at[s->count++] = symbol; }

/* The code points of a line without the white space at its end; invalid UTF-8 becomes U+FFFD, one for each maximal
 * invalid sequence. Lower case is str.lower()'s: U+0130 becomes two characters, and a capital sigma that ends a word
 * becomes a final one (Unicode 15, section 3.13). */
void symbols_read(Symbols *out, Symbols *scratch, Line line, bool lowercase);

/* str.isspace() of one character: ASCII's white space with U+001C .. U+001F, and Unicode's, but not U+200B or U+FEFF. */
bool code_is_space(int32_t code);

#endif
