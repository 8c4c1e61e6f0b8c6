/* BPE-dropout (Provilkov et al. 2020) in training: the pairs of each update are encoded anew from their text, so that a
 * model meets many spellings of a word. Which one is a pure function of (seed, update, line in the files, side), so a
 * resume and any number of threads see the same.
 *
 * Which pairs a corpus keeps is decided without dropout. A side that dropout makes longer than max_length is encoded
 * without it in that update. */
#ifndef DATA_ENCODING_DROPOUT_H
#define DATA_ENCODING_DROPOUT_H

#include "data/corpus.h"

typedef struct EncodingDropout {
    const ParallelText *text; /* of the corpus whose pairs are drawn; has to outlive this */
    TextEncoder *source, *target;
    double rate;
    int max_length; /* 0: no limit */
    uint64_t seed;
    int64_t update;
    Corpus drawn; /* the pairs drawn for this update, in order */
    int *place;   /* [capacity] 0, 1, 2, ...: all pairs of `drawn` */
    int capacity; /* pairs that `drawn` has room for */
} EncodingDropout;

void encoding_dropout_init(EncodingDropout *d, const ParallelText *text, const Tokenizer *source,
                           const Tokenizer *target, double rate, int max_length, uint64_t seed);
void encoding_dropout_free(EncodingDropout *d); /* a zeroed one too */

/* Forgets the pairs drawn so far. Returns d, or NULL where the rate is 0: then nothing is to be drawn. */
EncodingDropout *encoding_dropout_start(EncodingDropout *d, int64_t update);

/* Encodes a pair of the corpus; returns its number in d->drawn. */
int encoding_dropout_draw(EncodingDropout *d, const Corpus *corpus, int pair);

#endif
