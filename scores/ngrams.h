/* How many n-grams of a hypothesis its references have, and the numbering of words that goes before it.
 *
 * Everything is numbered by pairs: a word is its characters read one by one, (number of the prefix, next character) ->
 * number; an n-gram is (number of its first n-1 symbols, last symbol) -> number. Two are equal exactly when their numbers
 * are, so nothing rests on a hash, and an order costs one look-up a position. */
#ifndef SCORES_NGRAMS_H
#define SCORES_NGRAMS_H

#include "scores/symbols.h"

/* Pairs to numbers 0, 1, 2 ... in the order in which they came. */
typedef struct NumberedPair {
    int32_t left, right, number;
    uint32_t round; /* a slot of another round is empty: so emptying the table costs nothing */
} NumberedPair;

typedef struct PairNumbers {
    NumberedPair *slot; /* [capacity] */
    size_t capacity, mask;
    uint32_t round;
    int32_t count;
} PairNumbers;

/* Empties it and makes room for `most` pairs. A zeroed one is empty. */
void pair_numbers_begin(PairNumbers *p, size_t most);
void pair_numbers_free(PairNumbers *p);

int32_t pair_number(const PairNumbers *p, int32_t left, int32_t right); /* -1 if it has none */
int32_t pair_number_or_new(PairNumbers *p, int32_t left, int32_t right);

/* The numbers of the words that white space separates. `prefixes` must have room for all characters. */
void words_number(Symbols *words, PairNumbers *prefixes, const Symbols *text);

typedef struct NgramCounter {
    PairNumbers grams;                             /* of one order */
    Symbols hypothesis, reference;                 /* [positions] number of the n-gram that begins here */
    int32_t *in_hypothesis, *in_reference, *taken; /* [distinct n-grams] */
    size_t capacity;
} NgramCounter;

void ngram_counter_free(NgramCounter *c);

/* matches[n-1], n = 1 .. order: the sum over the distinct n-grams of the hypothesis of
 * min(times in it, most times in any one of the references). This is the clipped count of Papineni et al. 2002, section
 * 2.1.1. */
void ngrams_match(int32_t *matches, NgramCounter *c, const Symbols *hypothesis, const Symbols *references, int count,
                  int order);

/* N-grams in a text: positions, not distinct ones. */
static inline int32_t ngrams_in(const Symbols *text, int n) {
    return text->count < (size_t)n ? 0 : (int32_t)(text->count - (size_t)n + 1);
}

#endif
