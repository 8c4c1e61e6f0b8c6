/* Which source words or pieces the tokens of a translation looked at, as text. */
#ifndef DECODING_ALIGNMENT_H
#define DECODING_ALIGNMENT_H

#include <stdio.h>

#include "base/real.h"
#include "tokenizer/tokenizer.h"

typedef enum AlignmentKind { ALIGNMENT_NONE, ALIGNMENT_HARD, ALIGNMENT_SOFT, ALIGNMENT_THRESHOLD } AlignmentKind;

typedef struct AlignmentOptions {
    AlignmentKind kind;
    double threshold;
    bool pieces; /* pairs of pieces, not of words */
} AlignmentOptions;

/* word[i] = number, from 0, of the word (between spaces) that piece i belongs to; -1 for spaces at the end. */
void alignment_words(int *word, const Tokenizer *tokenizer, const int *ids, int count);

/* attention [target_count+1, source_count+1] of a pair of sentences whose last tokens are </s>, given by the ids without.
 *   hard       "0-0 1-1": each target piece with the source piece that it attends to most
 *   threshold  all pairs of pieces with an attention above it
 *   soft       a row for each target piece and </s>, with spaces between: attention to each source piece and </s>, with commas
 * Words are paired where any of their pieces are. Pairs are source-target, sorted, each once; </s> is in none. */
void alignment_write(FILE *out, const AlignmentOptions *o, const real *attention, const Tokenizer *source,
                     const int *source_ids, int source_count, const Tokenizer *target, const int *target_ids,
                     int target_count);

#endif
