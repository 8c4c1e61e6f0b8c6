#include "model/softmax.h"

#include <assert.h>

#include "base/vec.h"
#include "model/tile.h"

enum { LANES = TILE_COLS };

static inline real lanes_max(real lane[LANES]) {
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) lane[j] = lane[j + half] > lane[j] ? lane[j + half] : lane[j];
    return lane[0];
}

static inline real lanes_sum(real lane[LANES]) {
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

/* In strips of LANES: most rows of attention are one or two strips long, where a loop's odd end would cost the most. */
void softmax_forward(real *y, const real *x, int visible, int padded, real scale) {
    int n = tile_pad(visible);
    assert(padded % LANES == 0 && n <= padded);
    real most[LANES], sum[LANES];
    for (int j = 0; j < LANES; j++) most[j] = -(real)INFINITY, sum[j] = 0;
    for (int s = 0; s < n; s += LANES)
#pragma omp simd
        for (int j = 0; j < LANES; j++) { /* 1  what is hidden counts as -inf */
            real x_j = x[s + j];          /* read in any case: without AVX no load can be masked */
            x_j = s + j < visible ? x_j : -(real)INFINITY;
            y[s + j] = x_j;
            most[j] = x_j > most[j] ? x_j : most[j];
        }
    real max = lanes_max(most);
    for (int s = 0; s < n; s += LANES)
#pragma omp simd
        for (int j = 0; j < LANES; j++) { /* 2  e = exp(scale (x - max)): no overflow, same quotient */
            real e_j = s + j < visible ? real_exp(scale * (y[s + j] - max)) : 0;
            y[s + j] = e_j;
            sum[j] += e_j;
        }
    real inverse = 1 / lanes_sum(sum);
    for (int s = 0; s < n; s += LANES)
#pragma omp simd
        for (int j = 0; j < LANES; j++) y[s + j] *= inverse; /* 3  y = e / sum */
    vec_fill(y + n, 0, padded - n);
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
