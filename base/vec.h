/* Vector maths on rows. Sums are reordered only where `omp simd reduction` says so.
 * All functions accept n = 0. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdint.h>
#include <string.h>

#include "base/real.h"

/* e^x. In float: 2^k e^r with k = round(x / ln 2) and a polynomial for e^r on |r| <= ln 2 / 2
 * (coefficients: Cephes expf, Moshier 1989), about 1 ulp; written so that loops over it vectorise.
 * Below -87 it returns e^-87, about 1e-38. In double: libm's. */
static inline real real_exp(real x) {
#if REAL_IS_DOUBLE
    return exp(x);
#else
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
    float shifted = x * 1.44269504f + magic;
    float k = shifted - magic;
    float r = (x - k * 0.693359375f) + k * 2.12194440e-4f; /* ln 2 in two parts */
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + (127u << 23); /* 2^k: the magic's own bits are shifted out */
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
#endif
}

real vec_sum(const real *x, int n);
real vec_dot(const real *x, const real *y, int n);
real vec_max(const real *x, int n);                          /* n >= 1 */
void vec_add(real *y, const real *x, int n);                 /* y += x */
void vec_scale(real *x, real a, int n);                      /* x *= a */
void vec_fill(real *x, real a, int n);                       /* x  = a */
real vec_sum_exp(const real *x, real shift, int n);          /* the sum of exp(x - shift) */
real vec_exp_sum(real *y, const real *x, real shift, int n); /* y = exp(x - shift), returns its sum; y may be x */
double vec_sum_squares(const real *x, int64_t n);            /* in double */

#endif
