/* Adam (Kingma and Ba 2015, algorithm 1) over one flat slab, with clipping by the global norm (Pascanu et al. 2013). */
#ifndef TRAINING_ADAM_H
#define TRAINING_ADAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/real.h"

typedef struct Adam {
    double beta1, beta2, eps;
    size_t size;
    real *m, *v;     /* [size] running means of the gradient and of its square */
    int64_t updates; /* taken so far: the bias corrections depend on it */
} Adam;

void adam_init(Adam *a, size_t size, double beta1, double beta2, double eps);
void adam_free(Adam *a);

/* Factor that brings a gradient of this norm down to clip_norm: 1 where it is smaller, or where clip_norm is 0. */
double clip_factor(double norm, double clip_norm);

/* p -= lr mhat / (sqrt(vhat) + eps), for g = factor * gradient. Elementwise, so the bits do not depend on threads. */
void adam_update(real *p, Adam *a, const real *gradient, double factor, double lr, int threads);

#endif
