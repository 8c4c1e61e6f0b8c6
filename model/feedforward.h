/* Position-wise feed-forward network (Vaswani et al. 2017, eq. 2): y = act(x W1' + b1) W2' + b2. */
#ifndef MODEL_FEEDFORWARD_H
#define MODEL_FEEDFORWARD_H

#include "model/activation.h"
#include "model/dropout.h"
#include "model/linear.h"

typedef struct FeedForward {
    Linear fc1; /* [F,D] */
    Linear fc2; /* [D,F] */
    Activation activation;
} FeedForward;

typedef struct FeedForwardActs {
    const real *x; /* [N,D] borrowed */
    real *h;       /* [N,F] before the activation */
    real *r;       /* [N,F] after activation and dropout, input of fc2 */
} FeedForwardActs;

/* The tensors are called fc1.* and fc2.*, directly in the layer, as Hugging Face has them. */
void feedforward_bind(FeedForward *p, ParamBinder *binder, int width, int ffn_dim, Activation activation);

/* y, x [N,D]. */
void feedforward_forward(real *y, FeedForwardActs *a, const real *x, const FeedForward *p, int N,
                         const DropoutSite *drop, Arena *acts);

/* Overwrites dx [N,D]; adds to dp. */
void feedforward_backward(real *dx, FeedForward *dp, const real *dy, const FeedForwardActs *a, const FeedForward *p,
                          int N, const DropoutSite *drop, Arena *scratch);

#endif
