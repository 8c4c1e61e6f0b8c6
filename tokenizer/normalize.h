/* Steps 1 to 3 of tokenizer.h: a line as the marked text that is then cut into words. */
#ifndef TOKENIZER_NORMALIZE_H
#define TOKENIZER_NORMALIZE_H

#include "tokenizer/tokenizer.h"

typedef struct Normalizer {
    Normalization form;
    bool lowercase;
    char *text; /* [length] result of the last normalize(), valid UTF-8 */
    size_t length, capacity;
    int32_t *codes; /* working memory: code points */
    size_t code_capacity;
} Normalizer;

/* Sets n->text: invalid UTF-8 replaced, form and case applied, "▁" in front and for every space.
 * Empty text stays empty. Lower case is that of each character alone, whatever stands around it. */
void normalize(Normalizer *n, const char *text, size_t length);
void normalizer_free(Normalizer *n);

/* A word longer than this many bytes is cut, in learning and in encoding, so that memory stays bounded:
 * the one place where the ids may differ from the library's, which would take gigabytes. */
enum { WORD_LIMIT = 1 << 20 };

/* Bytes of the first word of a normalised text, length > 0: up to the next "▁" after its start. */
size_t word_length(const char *text, size_t length);

#endif
