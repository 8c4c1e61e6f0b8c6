/* Output layer, log-softmax and label-smoothed cross-entropy (Szegedy et al. 2016, section 7), a chunk of rows at a
 * time: the logits of all rows never exist at once.
 *
 *   objective of a row = -(1-eps) log p_t - eps/V sum_v log p_v,   nll = -log p_t,   p = softmax(h W') */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/real.h"
#include "model/linear.h"

/* Most rows, and classes, taken together: [352,320] floats are half a megabyte, which the second-level cache holds beside
 * the panels of the products (model/product.c). 320 classes are five of those panels. */
enum { LOSS_CHUNK_ROWS = 352, LOSS_BLOCK = 320 };

/* Sums over target tokens, in nats. Kept per piece and added in order. */
typedef struct LossSums {
    double objective, nll;
    int64_t tokens;
} LossSums;

static inline void loss_add(LossSums *sum, LossSums more) {
    sum->objective += more.objective;
    sum->nll += more.nll;
    sum->tokens += more.tokens;
}

/* Of one row, over the classes so far. */
typedef struct LossRow {
    real max, sum; /* the largest logit, and the sum of exp(z - max) */
    real z_target;
    double z_sum; /* of all logits; 0 without smoothing */
} LossRow;

/* What a chunk's forward leaves. The classes go by blocks, each done with while it is in the cache: its exponentials are
 * relative to the largest logit up to there (the online softmax of Milakov and Gimelshein 2018). */
typedef struct LossActs {
    real *e;      /* block behind block, each [C, width of the block]: exp(z - max) */
    real *max;    /* [blocks, C] */
    LossRow *row; /* [C] */
} LossActs;

/* Classes first .. first+LOSS_BLOCK-1 of the output layer, or of its gradient. */
Linear loss_block(const Linear *output, int first);

static inline bool loss_block_has(int target, int first, const Linear *block) {
    return target >= first && target - first < block->out;
}

/* The losses of a row whose softmax sums are complete, not yet summed. */
typedef struct RowLoss {
    double objective, nll;
} RowLoss;

RowLoss loss_of_row(const LossRow *row, double smoothing, int V);

/* For chunks of up to so many rows. */
LossActs loss_acts(int rows, int V, Arena *arena);

/* Adds the rows' losses to sums. h [C,D], targets [C]. row_nll [C] may be NULL. The output layer has no bias. */
void loss_forward(LossSums *sums, real *row_nll, LossActs *a, const real *h, const int *targets, const Linear *output,
                  double smoothing, int C);

/* Overwrites dh [C,D]; adds to doutput; turns a->e into the gradient of the logits.
 * `scale` multiplies the gradient: 1 / target tokens of the update. */
void loss_backward(real *dh, Linear *doutput, LossActs *a, const real *h, const int *targets, const Linear *output,
                   double smoothing, double scale, int C);

#endif
