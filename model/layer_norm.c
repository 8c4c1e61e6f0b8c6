#include "model/layer_norm.h"

#include <stdio.h>

#include "base/parts.h"

static const real EPS = (real)1e-5;

void layer_norm_bind(LayerNorm *p, ParamBinder *binder, const char *name, int width) {
    char full[64];
    p->width = width;
    snprintf(full, sizeof full, "%s.weight", name);
    param_bind(binder, &p->weight, full, 1, 1, width, PARAM_NORM_WEIGHT);
    snprintf(full, sizeof full, "%s.bias", name);
    param_bind(binder, &p->bias, full, 1, 1, width, PARAM_NORM_BIAS);
}

void layer_norm_forward(real *y, LayerNormActs *a, const real *x, const LayerNorm *p, int N, Arena *acts) {
    int D = p->width;
    const real *weight = p->weight, *bias = p->bias;
    part_begin(PART_NORM);
    if (a != NULL) {
        a->x = x;
        a->mean = arena_reals(acts, "mean", N, 1);
        a->rstd = arena_reals(acts, "rstd", N, 1);
    }
    for (int n = 0; n < N; n++) {
        const real *x_n = x + (size_t)n * D;
        real *y_n = y + (size_t)n * D;
        real sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int d = 0; d < D; d++) sum += x_n[d]; /* 1  mean      */
        real mean = sum / D;
#pragma omp simd reduction(+ : squares)
        for (int d = 0; d < D; d++) squares += (x_n[d] - mean) * (x_n[d] - mean);
        real rstd = 1 / sqrt(squares / D + EPS); /* 2  1/deviation */
#pragma omp simd
        for (int d = 0; d < D; d++) /* 3  y = weight (x - mean) rstd + bias */
            y_n[d] = weight[d] * ((x_n[d] - mean) * rstd) + bias[d];
        if (a != NULL) {
            a->mean[n] = mean;
            a->rstd[n] = rstd;
        }
    }
    part_end();
}

/* Forward     xhat_d = (x_d - mean) rstd,  y_d = w_d xhat_d + b_d;  mean and rstd are functions of x
 * Given       dy_d.   Wanted  dx_d, dw_d, db_d (a row at a time; dw and db add up over rows).
 * Derivation  dw_d = dy_d xhat_d, db_d = dy_d, and with g_d = dL/dxhat_d = dy_d w_d:
 *             x_e moves xhat_d in three ways: directly, by rstd [d = e]; through the mean, by -rstd / D;
 *             through the deviation, as d(rstd)/dx_e = -rstd^2 xhat_e / D, by -rstd xhat_d xhat_e / D.
 *             Summed over d:  dx_e = rstd (g_e - mean_d(g_d) - xhat_e mean_d(g_d xhat_d)).
 *             So dx is g with its components along 1 and along xhat taken out: moving x along either changes
 *             nothing (but, along xhat, through eps).
 * Saved       x, mean, rstd: xhat is cheaper to recompute than to keep. */
void layer_norm_backward(real *dx, LayerNorm *dp, const real *dy, const LayerNormActs *a, const LayerNorm *p, int N) {
    int D = p->width;
    const real *weight = p->weight;
    real *dweight = dp->weight, *dbias = dp->bias;
    part_begin(PART_NORM);
    for (int n = 0; n < N; n++) {
        const real *x_n = a->x + (size_t)n * D, *dy_n = dy + (size_t)n * D;
        real *dx_n = dx + (size_t)n * D;
        real mean = a->mean[n], rstd = a->rstd[n], g_sum = 0, g_xhat_sum = 0;
#pragma omp simd reduction(+ : g_sum, g_xhat_sum)
        for (int d = 0; d < D; d++) {
            real xhat = (x_n[d] - mean) * rstd, g = dy_n[d] * weight[d];
            dweight[d] += dy_n[d] * xhat; /* 3 */
            dbias[d] += dy_n[d];          /* 3 */
            g_sum += g;
            g_xhat_sum += g * xhat;
        }
        real g_mean = g_sum / D, g_xhat_mean = g_xhat_sum / D;
#pragma omp simd
        for (int d = 0; d < D; d++) { /* 2, 1 */
            real xhat = (x_n[d] - mean) * rstd, g = dy_n[d] * weight[d];
            dx_n[d] = rstd * (g - g_mean - xhat * g_xhat_mean);
        }
    }
    part_end();
}
