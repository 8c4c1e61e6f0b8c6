/* Output layer, log-softmax and label-smoothed cross-entropy (Szegedy et al. 2016, section 7), a chunk of rows at a
 * time: the logits of all rows never exist at once.
 *
 *   objective of a row = -(1-eps) log p_t - eps/V sum_v log p_v,   nll = -log p_t,   p = softmax(h W') */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include <stdint.h>

#include "base/real.h"
#include "model/linear.h"

enum { LOSS_CHUNK_ROWS = 256 };

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

/* Adds the rows' losses to sums. h [C,D], targets [C]. Leaves exp(z - max z) in e [C,V] and 1 / its row sums in
 * inverse_sum [C], so that p = e inverse_sum. row_nll [C] may be NULL. */
void loss_forward(LossSums *sums, real *row_nll, real *e, real *inverse_sum, const real *h, const int *targets,
                  const Linear *output, double smoothing, int C);

/* Overwrites dh [C,D]; adds to doutput; turns e [C,V] into the gradient of the logits.
 * `scale` multiplies the gradient: 1 / target tokens of the update. */
void loss_backward(real *dh, Linear *doutput, real *e, const real *inverse_sum, const real *h, const int *targets,
                   const Linear *output, double smoothing, double scale, int C);

#endif
