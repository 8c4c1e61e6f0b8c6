/* Activation functions of the feed-forward network, element by element. */
#ifndef MODEL_ACTIVATION_H
#define MODEL_ACTIVATION_H

#include "base/real.h"
#include "model/config.h"

/* May y take the place of x? relu's backward reads only the sign of x, which y has too. */
static inline int activation_in_place(Activation kind) { return kind == ACTIVATION_RELU; }

/* y, x [N,F]; y may be x where activation_in_place, and then serves the backward as x. */
void activation_forward(real *y, const real *x, Activation kind, int N, int F);

/* Overwrites dx [N,F], which may be dy. x is the forward's input. */
void activation_backward(real *dx, const real *dy, const real *x, Activation kind, int N, int F);

#endif
