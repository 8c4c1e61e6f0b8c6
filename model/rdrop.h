/* R-Drop (Liang, Wu et al. 2021, "R-Drop: Regularized Dropout for Neural Networks", equations 2 to 4): two passes over the same
 * sentences, each with dropout masks of its own, whose distributions p1 and p2 are pulled towards each other.
 *
 *   objective of a row = (l1 + l2) / 2 + alpha/4 (KL(p1||p2) + KL(p2||p1)),   nll = (nll1 + nll2) / 2
 *
 * with l1 and l2 the smoothed cross-entropies of model/loss.h. The paper, and its authors' criterion in fairseq, have
 * l1 + l2 + alpha/2 (KL + KL): exactly twice as much. So their alpha has the same meaning here (5 is their value for
 * translation), while loss, gradient norm and clip_norm keep the size that they have without R-Drop. */
#ifndef MODEL_RDROP_H
#define MODEL_RDROP_H

#include "model/loss.h"

/* Of one row of one pass, over the classes so far. */
typedef struct RDropRow {
    LossRow loss;
    real gap_sum; /* of exp(z - max) times this pass's logit less the other's */
} RDropRow;

/* What a chunk's forward leaves: of each pass the logits and the softmax sums. */
typedef struct RDropActs {
    real *z[2];       /* block behind block, each [C, width of the block] */
    RDropRow *row[2]; /* [C] */
} RDropActs;

/* For chunks of up to so many rows. */
RDropActs rdrop_acts(int rows, int V, Arena *arena);

/* Adds the rows' losses to sums; a row counts as one token. h: of each pass, [C,D]. */
void rdrop_forward(LossSums *sums, RDropActs *a, const real *const h[2], const int *targets, const Linear *output,
                   double smoothing, double alpha, int C);

/* Overwrites dh[0] and dh[1] [C,D]; adds to doutput; turns a->z into the gradients of the logits. `scale` multiplies the
 * gradient. */
void rdrop_backward(real *const dh[2], Linear *doutput, RDropActs *a, const real *const h[2], const int *targets,
                    const Linear *output, double smoothing, double alpha, double scale, int C);

#endif
