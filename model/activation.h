/* Activation functions of the feed-forward network, element by element. */
#ifndef MODEL_ACTIVATION_H
#define MODEL_ACTIVATION_H

#include "base/real.h"
#include "model/config.h"

/* y, x [N,F]; y may not be x: the backward reads x. */
void activation_forward(real *y, const real *x, Activation kind, int N, int F);

/* Overwrites dx [N,F], which may be dy. x is the forward's input. */
void activation_backward(real *dx, const real *dy, const real *x, Activation kind, int N, int F);

#endif
