/* The order of training: epochs, updates, pieces.
 *
 * An epoch's order is a pure function of (seed, epoch). An update takes pairs from it until a budget of target tokens
 * is reached. So (epoch, next) is all there is to save for an exact resume. */
#ifndef DATA_BATCHES_H
#define DATA_BATCHES_H

#include "data/encoding_dropout.h"

typedef struct Batcher {
    const Corpus *corpus;
    uint64_t seed;
    int epoch;  /* from 0 */
    int next;   /* pairs of this epoch already given out */
    int *order; /* [pairs] this epoch's */
} Batcher;

/* An update's pairs, cut at sentence ends into pieces. Lives in the arena it was made in. */
typedef struct Update {
    Batch *piece; /* [pieces] */
    int pieces, pairs;
    int64_t source_tokens, target_tokens; /* with </s> */
} Update;

/* Starts at (epoch, next), as saved. */
void batcher_init(Batcher *b, const Corpus *corpus, uint64_t seed, int epoch, int next);
void batcher_free(Batcher *b);

/* The next update: as many pairs as fit into budget target tokens, at least one; never across an epoch's end. Cut into
 * about equal pieces of at most about piece_rows target rows, their number a multiple of lanes where there are
 * sentences enough, so that no lane waits. With dropout the pairs are encoded anew (NULL: as the corpus has them). */
Update batcher_next(Batcher *b, EncodingDropout *dropout, int64_t budget, int piece_rows, int lanes, Arena *arena);

/* True when the last update given out ended its epoch; b->epoch has then moved on. */
bool batcher_at_epoch_start(const Batcher *b);

#endif
