/* The inside of a Tokenizer, for the files of this folder: pieces by id, merges by rank. */
#ifndef TOKENIZER_VOCABULARY_H
#define TOKENIZER_VOCABULARY_H

#include "tokenizer/pair_map.h"
#include "tokenizer/string_map.h"
#include "tokenizer/tokenizer.h"

enum { SMALLEST_VOCABULARY = 261 }; /* special pieces, byte tokens and "▁", without which nothing comes back */

typedef struct Merge {
    int left, right, result; /* ids; the piece of result is that of left followed by that of right */
} Merge;

struct Tokenizer {
    Normalization normalization;
    bool lowercase, whole_words; /* whole_words: a word that is a piece stays whole (the file's ignore_merges) */
    StringMap pieces;            /* a piece's index is its id */
    Merge *merges;               /* [merge_count] by rank: what was learned first is applied first */
    int merge_count, merge_capacity;
    PairMap merge_rank; /* (left, right) -> rank */
};

/* Without any piece. */
Tokenizer *vocabulary_new(Normalization normalization, bool lowercase);

/* The piece that ID_FIRST_PIECE and the ids below it must have: <s> <pad> </s> <unk> <0x00> .. <0xFF>. */
const char *vocabulary_fixed_piece(int id, char buffer[8]);
void vocabulary_add_fixed_pieces(Tokenizer *tokenizer);

/* The pair must not have a merge yet. */
void vocabulary_add_merge(Tokenizer *tokenizer, Merge merge);

/* Id of left's piece followed by right's piece; -1, or with `add` a new id, if there is none. */
int vocabulary_join(Tokenizer *tokenizer, int left, int right, bool add);

#endif
