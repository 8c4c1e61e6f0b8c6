/* The residual connection around a sublayer f, with its layer norm before or after (Vaswani et al. 2017, section 3.1;
 * the two places are compared by Xiong et al. 2020):
 *
 *   post   y = norm(x + dropout(f(x)))        pre   y = x + dropout(f(norm(x)))
 *
 * A layer writes it as residual_enter (what f reads), f itself, residual_leave. */
#ifndef MODEL_RESIDUAL_H
#define MODEL_RESIDUAL_H

#include "model/config.h"
#include "model/dropout.h"
#include "model/layer_norm.h"

typedef struct Residual {
    LayerNorm norm;
    NormPlace place;
} Residual;

typedef struct ResidualActs {
    LayerNormActs norm;
} ResidualActs;

void residual_bind(Residual *p, ParamBinder *binder, const char *norm_name, int width, NormPlace place);

/* What the sublayer reads, [N,D]: x itself (post), or its norm, taken from acts (pre). */
const real *residual_enter(ResidualActs *a, const real *x, const Residual *p, int N, Arena *acts);

/* y [N,D] from x and f = f(residual_enter(x)). */
void residual_leave(real *y, ResidualActs *a, const real *x, const real *f, const Residual *p, int N,
                    const DropoutSite *drop, Arena *acts);

/* Overwrites df and dx (the part of dx that comes past f); adds to dp. dx may be dy; df may not be dx. */
void residual_leave_backward(real *dx, real *df, Residual *dp, const real *dy, const ResidualActs *a, const Residual *p,
                             int N, const DropoutSite *drop);

/* Adds to dx the part that comes through f, from din = gradient of what the sublayer read. Overwrites din; adds to dp. */
void residual_enter_backward(real *dx, real *din, Residual *dp, const ResidualActs *a, const Residual *p, int N);

#endif
