#include "model/softmax.h"

#include "base/vec.h"

void softmax_forward(real *y, const real *x, int visible, int padded, real scale) {
    if (visible > 0) {
        real most = vec_max(x, visible), sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < visible; j++) { /* 1  e = exp(scale (x - max)): no overflow, same quotient */
            y[j] = real_exp(scale * (x[j] - most));
            sum += y[j];
        }
        vec_scale(y, 1 / sum, visible); /* 2  y = e / sum */
    }
    vec_fill(y + visible, 0, padded - visible);
}

/* Forward     y_j = exp(z_j) / sum_l exp(z_l),  z = scale x
 * Given       dy.   Wanted  dx.
 * Derivation  dy_l/dz_j = y_l ([l = j] - y_j), so dz_j = sum_l dy_l y_l ([l = j] - y_j) = y_j (dy_j - sum_l dy_l y_l),
 *             and dx = scale dz. Where y_j is 0 because j is hidden, dx_j is 0 as it should be.
 * Saved       y. */
void softmax_backward(real *dx, const real *dy, const real *y, int n, real scale) {
    real dot = vec_dot(y, dy, n);
#pragma omp simd
    for (int j = 0; j < n; j++) dx[j] = scale * y[j] * (dy[j] - dot);
}
