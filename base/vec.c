#include "base/vec.h"

real vec_sum(const real *x, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}

real vec_dot(const real *x, const real *y, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* In strips: each lane keeps its own maximum. (As one reduction, clang vectorises it only if NaNs may be ignored.) */
real vec_max(const real *x, int n) {
    enum { LANES = 16 };
    real most = x[0];
    int i = 0;
    if (n >= LANES) {
        real lane[LANES];
        for (int j = 0; j < LANES; j++) lane[j] = x[j];
        for (i = LANES; i + LANES <= n; i += LANES)
#pragma omp simd
            for (int j = 0; j < LANES; j++) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
#pragma GCC unroll 4
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int j = 0; j < half; j++) lane[j] = lane[j + half] > lane[j] ? lane[j + half] : lane[j];
        most = lane[0];
    }
    for (; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

void vec_add(real *y, const real *x, int n) {
    for (int i = 0; i < n; i++) y[i] += x[i];
}

void vec_scale(real *x, real a, int n) {
    for (int i = 0; i < n; i++) x[i] *= a;
}

void vec_fill(real *x, real a, int n) {
    for (int i = 0; i < n; i++) x[i] = a;
}

real vec_sum_exp(const real *x, real shift, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += real_exp(x[i] - shift);
    return sum;
}

real vec_exp_sum(real *y, const real *x, real shift, int n) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        real e = real_exp(x[i] - shift);
        y[i] = e;
        sum += e;
    }
    return sum;
}

double vec_sum_squares(const real *x, int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sum;
}
