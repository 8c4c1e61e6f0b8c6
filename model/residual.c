#include "model/residual.h"

#include <string.h>

#include "base/parts.h"

static void add_rows(real *y, const real *x, int N, int D) {
    size_t n = (size_t)N * (size_t)D;
    part_begin(PART_NORM);
#pragma omp simd
    for (size_t i = 0; i < n; i++) y[i] += x[i];
    part_end();
}

void residual_bind(Residual *p, ParamBinder *binder, const char *norm_name, int width, NormPlace place) {
    p->place = place;
    layer_norm_bind(&p->norm, binder, norm_name, width);
}

const real *residual_enter(ResidualActs *a, const real *x, const Residual *p, int N, Arena *acts) {
    if (p->place == NORM_POST) return x;
    real *normed = arena_reals(acts, "normed", N, p->norm.width);
    layer_norm_forward(normed, &a->norm, x, &p->norm, N, acts); /* 1  in = norm(x)   (pre) */
    return normed;
}

void residual_leave(real *y, ResidualActs *a, const real *x, const real *f, const Residual *p, int N,
                    const DropoutSite *drop, Arena *acts) {
    int D = p->norm.width;
    real *sum = p->place == NORM_POST ? arena_reals(acts, "residual sum", N, D) : y;
    dropout_forward(sum, f, N, D, drop); /* 2  sum = x + mask f / keep */
    add_rows(sum, x, N, D);
    if (p->place == NORM_POST) layer_norm_forward(y, &a->norm, sum, &p->norm, N, acts); /* 3  y = norm(sum)  (post) */
}

/* Forward     sum = x + m f,  y = norm(sum) (post) or sum (pre);  f = f(in),  in = x (post) or norm(x) (pre)
 * Given       dy.   Wanted  df, dx.
 * Derivation  3  dsum = norm_backward(dy), or dy.
 *             2  sum is linear in x and f:  df = m dsum, and dsum passes to x unchanged: this is what carries the
 *                gradient to the first layer whatever f does.
 *             1  x fans out into the sum and into f:  dx = dsum + din (post) or dsum + norm_backward(din) (pre).
 * Saved       the norm's input, by the norm. */
void residual_leave_backward(real *dx, real *df, Residual *dp, const real *dy, const ResidualActs *a, const Residual *p,
                             int N, const DropoutSite *drop) {
    int D = p->norm.width;
    if (p->place == NORM_POST)
        layer_norm_backward(dx, &dp->norm, dy, &a->norm, &p->norm, N); /* 3 */
    else if (dx != dy)
        memcpy(dx, dy, (size_t)N * (size_t)D * sizeof(real));
    dropout_backward(df, dx, N, D, drop); /* 2 */
}

void residual_enter_backward(real *dx, real *din, Residual *dp, const ResidualActs *a, const Residual *p, int N) {
    if (p->place == NORM_PRE) layer_norm_backward(din, &dp->norm, din, &a->norm, &p->norm, N); /* 1 */
    add_rows(dx, din, N, p->norm.width);
}
