#include "model/feedforward.h"

void feedforward_bind(FeedForward *p, ParamBinder *binder, int width, int ffn_dim, Activation activation) {
    p->activation = activation;
    linear_bind(&p->fc1, binder, "fc1", width, ffn_dim);
    linear_bind(&p->fc2, binder, "fc2", ffn_dim, width);
}

void feedforward_forward(real *y, FeedForwardActs *a, const real *x, const FeedForward *p, int N,
                         const DropoutSite *drop, Arena *acts) {
    int F = p->fc1.out;
    a->x = x;
    a->h = arena_reals(acts, "ffn hidden", N, F);
    a->r = activation_in_place(p->activation) ? a->h : arena_reals(acts, "ffn activated", N, F);
    linear_forward(a->h, x, &p->fc1, N);                 /* 1  h = x W1' + b1   */
    activation_forward(a->r, a->h, p->activation, N, F); /* 2  r = act(h)       */
    dropout_forward(a->r, a->r, N, F, drop);             /* 3  r = mask r / keep */
    linear_forward(y, a->r, &p->fc2, N);                 /* 4  y = r W2' + b2   */
}

/* Forward     y = mask(act(x W1' + b1)) W2' + b2
 * Given       dy.   Wanted  dx and the gradients of W1, b1, W2, b2.
 * Derivation  A chain without fan-out: the four steps' own backwards, last to first.
 * Saved       x, h, and r after dropout, which fc2's weight gradient reads. Where r has taken the place of h, r > 0 tells
 *             what act'(h) is; where the mask has set it to 0, nothing arrives that it could let through. */
void feedforward_backward(real *dx, FeedForward *dp, const real *dy, const FeedForwardActs *a, const FeedForward *p,
                          int N, const DropoutSite *drop, Arena *scratch) {
    int F = p->fc1.out;
    ArenaMark mark = arena_mark(scratch);
    real *dr = arena_reals(scratch, "ffn activated", N, F);
    linear_backward(dr, &dp->fc2, dy, a->r, &p->fc2, N);    /* 4 */
    dropout_backward(dr, dr, N, F, drop);                   /* 3 */
    activation_backward(dr, dr, a->h, p->activation, N, F); /* 2 */
    linear_backward(dx, &dp->fc1, dr, a->x, &p->fc1, N);    /* 1 */
    arena_release(scratch, mark);
}
