#include "model/rdrop.h"

#include "base/parts.h"
#include "base/vec.h"
#include "model/matmul.h"

RDropActs rdrop_acts(int rows, int V, Arena *arena) {
    RDropActs a;
    for (int i = 0; i < 2; i++) {
        a.z[i] = arena_reals(arena, "logits", rows, V);
        a.row[i] = arena_array(arena, RDropRow, "softmax sums", rows);
    }
    return a;
}

/* Steps 2 and 3 for one row of a block: z of the pass, other_z of the other one. */
static void add_block(RDropRow *row, const real *z, const real *other_z, int width, bool with_sum) {
    LossRow *loss = &row->loss;
    real most = vec_max(z, width), sum = 0, gap_sum = 0;
    most = loss->max > most ? loss->max : most;
    if (with_sum) loss->z_sum += (double)vec_sum(z, width);
#pragma omp simd reduction(+ : sum, gap_sum)
    for (int v = 0; v < width; v++) {
        real e = real_exp(z[v] - most);
        sum += e;
        gap_sum += e * (z[v] - other_z[v]);
    }
    real before = real_exp(loss->max - most);
    loss->sum = loss->sum * before + sum;
    row->gap_sum = row->gap_sum * before + gap_sum;
    loss->max = most;
}

/* The mean of this pass's logit less the other's, under this pass's p. */
static double mean_gap(const RDropRow *row) { return (double)row->gap_sum / (double)row->loss.sum; }

void rdrop_forward(LossSums *sums, RDropActs *a, const real *const h[2], const int *targets, const Linear *output,
                   double smoothing, double alpha, int C) {
    int V = output->out;
    part_begin(PART_LOSS);
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < C; n++) a->row[i][n] = (RDropRow){.loss.max = -(real)INFINITY};
    for (int first = 0; first < V; first += LOSS_BLOCK) {
        Linear block = loss_block(output, first);
        real *z[2] = {a->z[0] + (size_t)first * C, a->z[1] + (size_t)first * C};
        for (int i = 0; i < 2; i++) matmul_nt(z[i], h[i], block.W, C, block.out, block.in); /* 1  z = h W' */
        for (int i = 0; i < 2; i++) { /* 2  max, sum of exp(z - max),  3  sum of exp(z - max) (z - other z) */
            for (int n = 0; n < C; n++) {
                const real *z_n = z[i] + (size_t)n * block.out, *other_n = z[1 - i] + (size_t)n * block.out;
                RDropRow *row = &a->row[i][n];
                if (loss_block_has(targets[n], first, &block)) row->loss.z_target = z_n[targets[n] - first];
                add_block(row, z_n, other_n, block.out, smoothing > 0);
            }
        }
    }
    for (int n = 0; n < C; n++) { /* 4  KL(p1||p2) + KL(p2||p1) = E_p1[z1 - z2] + E_p2[z2 - z1] */
        for (int i = 0; i < 2; i++) {
            RowLoss loss = loss_of_row(&a->row[i][n].loss, smoothing, V);
            sums->nll += loss.nll / 2;
            sums->objective += loss.objective / 2 + alpha / 4 * mean_gap(&a->row[i][n]);
        }
    }
    sums->tokens += C;
    part_end();
}

/* Turns the logits of one row of a block into their gradients, but for the target's share. */
static void row_gradients(real *z1, real *z2, const RDropRow *one, const RDropRow *two, int width, double uniform,
                          double alpha, double scale) {
    real max1 = one->loss.max, max2 = two->loss.max, norm1 = 1 / one->loss.sum, norm2 = 1 / two->loss.sum;
    real mean1 = (real)mean_gap(one), mean2 = (real)mean_gap(two);
    real half = (real)(scale / 2), pull = (real)(scale * alpha / 4), smooth = (real)(scale / 2 * uniform);
#pragma omp simd
    for (int v = 0; v < width; v++) {
        real p1 = real_exp(z1[v] - max1) * norm1, p2 = real_exp(z2[v] - max2) * norm2, g = z1[v] - z2[v];
        z1[v] = half * p1 - smooth + pull * (p1 * (g - mean1) + (p1 - p2));
        z2[v] = half * p2 - smooth + pull * (p2 * (-g - mean2) + (p2 - p1));
    }
}

/* Forward     l = (l1 + l2) / 2 + alpha/4 J,  J = KL(p1||p2) + KL(p2||p1)
 *             J = sum_v (p1_v - p2_v) (log p1_v - log p2_v) = sum_v (p1_v - p2_v) (z1_v - z2_v)
 *               = E_p1[z1 - z2] + E_p2[z2 - z1]:   log p1_v - log p2_v is z1_v - z2_v and a constant, which times
 *             sum_v (p1_v - p2_v) is zero. So J needs no logarithm of a small probability, and is 0 where z1 = z2.
 * Given       dl = scale for every row.   Wanted  dz1 and dz2, then dh1, dh2 and dW.
 * Derivation  With g = z1 - z2, z1_v enters E_p1[g] through p1, as in any softmax, and both means through g:
 *             dJ/dz1_v = p1_v (g_v - E_p1[g]) + (p1_v - p2_v).   J is symmetric: dJ/dz2 is the same with 1 and 2, and so
 *             the sign of g, exchanged.
 *             dl1 and dl2 as in loss_backward. Both passes share W: dW is the sum of both, and of all blocks.
 * Saved       z1 and z2, from which the exponentials are made again; maxima and sums; h1 and h2, by the caller. */
void rdrop_backward(real *const dh[2], Linear *doutput, RDropActs *a, const real *const h[2], const int *targets,
                    const Linear *output, double smoothing, double alpha, double scale, int C) {
    int V = output->out, D = output->in;
    part_begin(PART_LOSS);
    for (int i = 0; i < 2; i++) vec_fill(dh[i], 0, C * D);
    for (int first = 0; first < V; first += LOSS_BLOCK) {
        Linear block = loss_block(output, first), dblock = loss_block(doutput, first);
        real *dz[2] = {a->z[0] + (size_t)first * C, a->z[1] + (size_t)first * C};
        for (int n = 0; n < C; n++) { /* 4, 3, 2 */
            real *dz_n[2] = {dz[0] + (size_t)n * block.out, dz[1] + (size_t)n * block.out};
            row_gradients(dz_n[0], dz_n[1], &a->row[0][n], &a->row[1][n], block.out, smoothing / V, alpha, scale);
            for (int i = 0; i < 2 && loss_block_has(targets[n], first, &block); i++)
                dz_n[i][targets[n] - first] -= (real)(scale / 2 * (1 - smoothing));
        }
        for (int i = 0; i < 2; i++) {
            matmul_tn_add(dblock.W, dz[i], h[i], block.out, D, C); /* 1  dW += dz' h */
            matmul_nn_add(dh[i], dz[i], block.W, C, D, block.out); /* 1  dh += dz W  */
        }
    }
    part_end();
}
