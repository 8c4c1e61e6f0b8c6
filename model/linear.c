#include "model/linear.h"

#include <stdio.h>

#include "base/parts.h"
#include "base/vec.h"
#include "model/matmul.h"

void linear_bind(Linear *p, ParamBinder *binder, const char *name, int in, int out) {
    char full[64];
    *p = (Linear){.in = in, .out = out};
    snprintf(full, sizeof full, "%s.weight", name);
    param_bind(binder, &p->W, full, 2, out, in, PARAM_MATRIX);
    snprintf(full, sizeof full, "%s.bias", name);
    param_bind(binder, &p->b, full, 1, 1, out, PARAM_BIAS);
}

void linear_forward(real *y, const real *x, const Linear *p, int N) {
    matmul_nt(y, x, p->W, N, p->out, p->in); /* 1  y = x W' */
    part_begin(PART_ACTIVATION);
    for (int n = 0; p->b && n < N; n++) vec_add(y + (size_t)n * p->out, p->b, p->out); /* 2  y_n += b   */
    part_end();
}

/* Forward     y_no = sum_i x_ni W_oi + b_o
 * Given       dy_no = dL/dy_no.   Wanted  dx_ni, dW_oi, db_o.
 * Derivation  x_ni reaches L through every y_no of its row:  dx_ni = sum_o dy_no W_oi     dX = dY W
 *             W_oi through y_no of every row:                dW_oi = sum_n dy_no x_ni     dW = dY' X
 *             b_o likewise, with factor 1:                   db_o  = sum_n dy_no
 * Saved       x, by the caller. */
void linear_backward(real *dx, Linear *dp, const real *dy, const real *x, const Linear *p, int N) {
    part_begin(PART_ACTIVATION);
    for (int n = 0; p->b && n < N; n++) vec_add(dp->b, dy + (size_t)n * p->out, p->out); /* 2 */
    part_end();
    matmul_tn_add(dp->W, dy, x, p->out, p->in, N);             /* 1 */
    if (dx != NULL) matmul_nn(dx, dy, p->W, N, p->in, p->out); /* 1 */
}
