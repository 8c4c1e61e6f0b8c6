#include "model/loss.h"

#include "base/parts.h"
#include "base/vec.h"

void loss_forward(LossSums *sums, real *row_nll, real *e, real *inverse_sum, const real *h, const int *targets,
                  const Linear *output, double smoothing, int C) {
    int V = output->out;
    part_begin(PART_LOSS);
    linear_forward(e, h, output, C); /* 1  z = h W' */
    for (int n = 0; n < C; n++) {
        real *z_n = e + (size_t)n * V;
        real most = vec_max(z_n, V), z_target = z_n[targets[n]];
        double z_mean = smoothing > 0 ? (double)vec_sum(z_n, V) / V : 0;
        real sum = vec_exp_sum(z_n, z_n, most, V); /* 2  e = exp(z - max), p = e / sum */
        double log_sum = (double)most + log((double)sum);
        double nll = log_sum - (double)z_target; /* 3  -log p_t = log sum exp z - z_t; the mean over v likewise */
        inverse_sum[n] = 1 / sum;
        if (row_nll != NULL) row_nll[n] = (real)nll;
        sums->nll += nll;
        sums->objective += (1 - smoothing) * nll + smoothing * (log_sum - z_mean);
    }
    sums->tokens += C;
    part_end();
}

/* Forward     l = -(1-eps) log p_t - eps/V sum_v log p_v,  log p_v = z_v - log sum_w exp z_w,  z = h W'
 * Given       dl = scale for every row.   Wanted  dz, then dh and dW.
 * Derivation  The weights (1-eps) [v = t] + eps/V of the log p_v sum to 1, so l = log sum_w exp z_w - sum_v weight_v z_v,
 *             and the derivative of the first term is p_v:
 *             dz_v = scale (p_v - eps/V - (1-eps) [v = t]).   Then linear_backward.
 * Saved       e and its row sums (p = e / sum); h, by the caller. */
void loss_backward(real *dh, Linear *doutput, real *e, const real *inverse_sum, const real *h, const int *targets,
                   const Linear *output, double smoothing, double scale, int C) {
    int V = output->out;
    real uniform = (real)(scale * smoothing / V);
    part_begin(PART_LOSS);
    for (int n = 0; n < C; n++) { /* 3, 2 */
        real *dz_n = e + (size_t)n * V;
        real factor = (real)scale * inverse_sum[n];
#pragma omp simd
        for (int v = 0; v < V; v++) dz_n[v] = dz_n[v] * factor - uniform;
        dz_n[targets[n]] -= (real)(scale * (1 - smoothing));
    }
    linear_backward(dh, doutput, e, h, output, C); /* 1 */
    part_end();
}
