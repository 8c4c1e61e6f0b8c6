#include "model/loss.h"

#include <assert.h>

#include "base/parts.h"
#include "base/vec.h"
#include "model/matmul.h"

LossActs loss_acts(int rows, int V, Arena *arena) {
    int blocks = (V + LOSS_BLOCK - 1) / LOSS_BLOCK;
    return (LossActs){.e = arena_reals(arena, "exponentials of logits", rows, V),
                      .max = arena_reals(arena, "largest logits", blocks, rows),
                      .row = arena_array(arena, LossRow, "softmax sums", rows)};
}

Linear loss_block(const Linear *output, int first) {
    assert(output->b == NULL);
    int width = output->out - first < LOSS_BLOCK ? output->out - first : LOSS_BLOCK;
    return (Linear){.in = output->in, .out = width, .W = output->W + (size_t)first * output->in};
}

RowLoss loss_of_row(const LossRow *row, double smoothing, int V) {
    double log_sum = (double)row->max + log((double)row->sum), nll = log_sum - (double)row->z_target;
    return (RowLoss){(1 - smoothing) * nll + smoothing * (log_sum - row->z_sum / V), nll};
}

/* Steps 2 and 3 for one row of a block, whose logits are z. Returns what its exponentials are relative to. */
static real add_block(LossRow *row, real *z, int width, bool with_sum) {
    real most = vec_max(z, width);
    most = row->max > most ? row->max : most;
    if (with_sum) row->z_sum += (double)vec_sum(z, width);
    row->sum *= real_exp(row->max - most);
    row->sum += vec_exp_sum(z, z, most, width);
    return row->max = most;
}

void loss_forward(LossSums *sums, real *row_nll, LossActs *a, const real *h, const int *targets, const Linear *output,
                  double smoothing, int C) {
    int V = output->out;
    part_begin(PART_LOSS);
    for (int n = 0; n < C; n++) a->row[n] = (LossRow){.max = -(real)INFINITY};
    for (int first = 0, b = 0; first < V; first += LOSS_BLOCK, b++) {
        Linear block = loss_block(output, first);
        real *e = a->e + (size_t)first * C;
        matmul_nt(e, h, block.W, C, block.out, block.in); /* 1  z = h W' */
        for (int n = 0; n < C; n++) {                     /* 2  max = largest z so far,  3  e = exp(z - max) */
            real *z_n = e + (size_t)n * block.out;
            if (loss_block_has(targets[n], first, &block)) a->row[n].z_target = z_n[targets[n] - first];
            a->max[b * C + n] = add_block(&a->row[n], z_n, block.out, smoothing > 0);
        }
    }
    for (int n = 0; n < C; n++) { /* 4  nll = -log p_t = log sum exp z - z_t; the mean over all classes likewise */
        RowLoss loss = loss_of_row(&a->row[n], smoothing, V);
        if (row_nll != NULL) row_nll[n] = (real)loss.nll;
        sums->nll += loss.nll;
        sums->objective += loss.objective;
    }
    sums->tokens += C;
    part_end();
}

/* Forward     l = -(1-eps) log p_t - eps/V sum_v log p_v,  log p_v = z_v - log sum_w exp z_w,  z = h W'
 * Given       dl = scale for every row.   Wanted  dz, then dh and dW.
 * Derivation  The weights (1-eps) [v = t] + eps/V of the log p_v sum to 1, so l = log sum_w exp z_w - sum_v weight_v z_v,
 *             and the derivative of the first term is p_v:
 *             dz_v = scale (p_v - eps/V - (1-eps) [v = t]),   p_v = e_v exp(max of v's block - max) / sum.
 *             dh and dW as in linear_backward; dh is a sum over all v, so each block adds to it.
 * Saved       e, the maxima and sums; h, by the caller. */
void loss_backward(real *dh, Linear *doutput, LossActs *a, const real *h, const int *targets, const Linear *output,
                   double smoothing, double scale, int C) {
    int V = output->out, D = output->in;
    real uniform = (real)(scale * smoothing / V);
    part_begin(PART_LOSS);
    vec_fill(dh, 0, C * D);
    for (int first = 0, b = 0; first < V; first += LOSS_BLOCK, b++) {
        Linear block = loss_block(output, first), dblock = loss_block(doutput, first);
        real *dz = a->e + (size_t)first * C;
        for (int n = 0; n < C; n++) { /* 4, 3, 2 */
            real *dz_n = dz + (size_t)n * block.out;
            real factor = (real)scale * real_exp(a->max[b * C + n] - a->row[n].max) / a->row[n].sum;
#pragma omp simd
            for (int v = 0; v < block.out; v++) dz_n[v] = dz_n[v] * factor - uniform;
            if (loss_block_has(targets[n], first, &block)) dz_n[targets[n] - first] -= (real)(scale * (1 - smoothing));
        }
        matmul_tn_add(dblock.W, dz, h, block.out, D, C); /* 1  dW += dz' h */
        matmul_nn_add(dh, dz, block.W, C, D, block.out); /* 1  dh += dz W  */
    }
    part_end();
}
