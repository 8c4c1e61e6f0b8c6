/* Layer normalisation (Ba, Kiros, Hinton 2016, eq. 4): each row to mean 0 and variance 1, then an affine map. */
#ifndef MODEL_LAYER_NORM_H
#define MODEL_LAYER_NORM_H

#include "base/arena.h"
#include "base/real.h"
#include "model/params.h"

typedef struct LayerNorm {
    int width;
    real *weight, *bias; /* [D] each */
} LayerNorm;

typedef struct LayerNormActs {
    const real *x; /* [N,D] borrowed */
    real *mean;    /* [N] */
    real *rstd;    /* [N] 1 / sqrt(variance + eps) */
} LayerNormActs;

void layer_norm_bind(LayerNorm *p, ParamBinder *binder, const char *name, int width);

/* y, x [N,D]; y may not be x. a == NULL: nothing is saved (acts may then be NULL). */
void layer_norm_forward(real *y, LayerNormActs *a, const real *x, const LayerNorm *p, int N, Arena *acts);

/* Overwrites dx [N,D], which may be dy; adds to dp. */
void layer_norm_backward(real *dx, LayerNorm *dp, const real *dy, const LayerNormActs *a, const LayerNorm *p, int N);

#endif
