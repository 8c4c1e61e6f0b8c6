/* Linear layer: y = x W' + b. */
#ifndef MODEL_LINEAR_H
#define MODEL_LINEAR_H

#include "base/real.h"
#include "model/params.h"

typedef struct Linear {
    int in, out;
    real *W; /* [out,in] */
    real *b; /* [out], or NULL: no bias */
} Linear;

/* Binds name.weight, then name.bias. */
void linear_bind(Linear *p, ParamBinder *binder, const char *name, int in, int out);

/* y [N,out], x [N,in]. */
void linear_forward(real *y, const real *x, const Linear *p, int N);

/* Overwrites dx [N,in] (NULL: not wanted); adds to dp. Reads dy [N,out] and the forward's x. */
void linear_backward(real *dx, Linear *dp, const real *dy, const real *x, const Linear *p, int N);

#endif
