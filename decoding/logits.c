#include "decoding/logits.h"

#include <string.h>

#include "base/vec.h"

static int block_width(const Logits *l, int first) { return l->V - first < LOGITS_BLOCK ? l->V - first : LOGITS_BLOCK; }

Logits logits_new(int rows, int V, bool summed, Arena *arena) {
    Logits l = {.V = V, .blocks = (V + LOGITS_BLOCK - 1) / LOGITS_BLOCK, .summed = summed};
    l.z = arena_reals(arena, "logits", rows, V);
    l.most = arena_reals(arena, "largest of blocks", rows, l.blocks);
    if (summed) l.sum = arena_reals(arena, "sums of blocks", rows, l.blocks);
    return l;
}

/* z_b [width]: block b of a row. */
static void keep_block(Logits *l, int row, int b, const real *z_b, int width) {
    size_t at = (size_t)row * (size_t)l->blocks + (size_t)b;
    memcpy(logits_row(l, row) + b * LOGITS_BLOCK, z_b, (size_t)width * sizeof(real));
    l->most[at] = vec_max(z_b, width);
    if (l->summed) l->sum[at] = vec_sum_exp(z_b, l->most[at], width);
}

void logits_forward(Logits *l, const real *h, const PackedLinear *output, int rows, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    real *z = arena_reals(scratch, "block of logits", rows, LOGITS_BLOCK);
    for (int b = 0, v = 0; b < l->blocks; b++, v += LOGITS_BLOCK) {
        int width = block_width(l, v);
        packed_linear_outputs(z, h, output, rows, v, v + width);
        for (int r = 0; r < rows; r++) keep_block(l, r, b, z + (size_t)r * (size_t)width, width);
    }
    arena_release(scratch, mark);
}

void logits_find_largest(Logits *l, int row) {
    for (int b = 0, v = 0; b < l->blocks; b++, v += LOGITS_BLOCK)
        l->most[(size_t)row * (size_t)l->blocks + (size_t)b] = vec_max(logits_row(l, row) + v, block_width(l, v));
}

double logits_normalizer(const Logits *l, int row) {
    const real *most = l->most + (size_t)row * (size_t)l->blocks, *sum = l->sum + (size_t)row * (size_t)l->blocks;
    double M = (double)vec_max(most, l->blocks), total = 0;
    for (int b = 0; b < l->blocks; b++) total += (double)sum[b] * exp((double)most[b] - M);
    return M + log(total);
}
