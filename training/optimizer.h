/* What a gradient does to the parameters: Adam (Kingma and Ba 2015, algorithm 1), AdamW (Loshchilov and Hutter 2019,
 * algorithm 2) or gradient descent with momentum, over one flat slab, after clipping by the global norm (Pascanu et al.
 * 2013). Weight decay leaves biases and norms alone. */
#ifndef TRAINING_OPTIMIZER_H
#define TRAINING_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>

#include "model/params.h"
#include "run/config.h"

/* Neighbours in the slab that are decayed alike. */
typedef struct OptimizerSpan {
    size_t start, end;
    bool decayed;
} OptimizerSpan;

typedef struct Optimizer {
    ConfigOptimizer kind;
    double beta1, beta2, eps, momentum, weight_decay;
    OptimizerSpan *span; /* [spans] of the whole slab, in order */
    int spans;
    real *m;         /* [size] running mean of the gradient; sgd: its sum, which fades by `momentum` */
    real *v;         /* [size] running mean of its square; sgd: NULL */
    int64_t updates; /* taken so far: the bias corrections depend on it */
} Optimizer;

/* For a slab of the table's; the method and its numbers are [train]'s. */
void optimizer_init(Optimizer *o, const ConfigTrain *config, const ParamTable *table);
void optimizer_free(Optimizer *o);

/* Factor that brings a gradient of this norm down to clip_norm: 1 where it is smaller, or where clip_norm is 0. */
double clip_factor(double norm, double clip_norm);

/* One step, for g = factor * gradient. With weight decay w (0 for biases and norms):
 *   adam   g += w p, then p -= lr mhat / (sqrt(vhat) + eps)
 *   adamw  p -= lr (mhat / (sqrt(vhat) + eps) + w p)
 *   sgd    g += w p, then m = momentum m + g and p -= lr m
 * Elementwise, so the bits do not depend on threads. */
void optimizer_update(real *p, Optimizer *o, const real *gradient, double factor, double lr, int threads);

#endif
