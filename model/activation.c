#include "model/activation.h"

#include <stddef.h>

#include "base/parts.h"

static const real INV_SQRT_2 = (real)0.70710678118654752440, INV_SQRT_2PI = (real)0.39894228040143267794;

static void relu_forward(real *y, const real *x, size_t n) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
}

/* Forward     y = max(0, x)
 * Given       dy.   Wanted  dx.
 * Derivation  dy/dx is 1 where x > 0 and 0 where x < 0; at 0, where there is none, we take 0.
 * Saved       x (only its sign is read). */
static void relu_backward(real *dx, const real *dy, const real *x, size_t n) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        real dy_i = dy[i]; /* read in any case: without AVX no load can be masked */
        dx[i] = x[i] > 0 ? dy_i : 0;
    }
}

/* Hendrycks and Gimpel 2016: x times the probability that a standard normal is below x, the exact erf form. */
static void gelu_forward(real *y, const real *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] * (real)0.5 * (1 + erf(x[i] * INV_SQRT_2));
}

/* Forward     y = x Phi(x),  Phi(x) = (1 + erf(x / sqrt 2)) / 2
 * Given       dy.   Wanted  dx.
 * Derivation  Phi' is the normal density phi(x) = exp(-x^2/2) / sqrt(2 pi); product rule:
 *             dy/dx = Phi(x) + x phi(x).
 * Saved       x. */
static void gelu_backward(real *dx, const real *dy, const real *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        real Phi = (real)0.5 * (1 + erf(x[i] * INV_SQRT_2));
        real phi = INV_SQRT_2PI * exp(-x[i] * x[i] * (real)0.5);
        dx[i] = dy[i] * (Phi + x[i] * phi);
    }
}

void activation_forward(real *y, const real *x, Activation kind, int N, int F) {
    size_t n = (size_t)N * (size_t)F;
    part_begin(PART_ACTIVATION);
    if (kind == ACTIVATION_RELU) relu_forward(y, x, n);
    if (kind == ACTIVATION_GELU) gelu_forward(y, x, n);
    part_end();
}

void activation_backward(real *dx, const real *dy, const real *x, Activation kind, int N, int F) {
    size_t n = (size_t)N * (size_t)F;
    part_begin(PART_ACTIVATION);
    if (kind == ACTIVATION_RELU) relu_backward(dx, dy, x, n);
    if (kind == ACTIVATION_GELU) gelu_backward(dx, dy, x, n);
    part_end();
}
