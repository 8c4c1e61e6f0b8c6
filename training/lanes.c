#include "training/lanes.h"

#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "base/parts.h"
#include "base/vec.h"

enum { BLOCK = 1 << 14 }; /* reals; fixed, so that partial sums do not depend on the number of threads */

void lanes_init(Lanes *l, const ModelConfig *config, size_t size, int lanes, int threads) {
    *l = (Lanes){.lanes = lanes, .threads = threads, .size = size};
    l->slab = memory_alloc((size_t)lanes, sizeof *l->slab, "gradient slabs");
    l->gradient = memory_alloc((size_t)lanes, sizeof *l->gradient, "gradients");
    l->arena = arenas_new(threads, "activations (lower [train] piece_rows or [data] max_length)");
    for (int i = 0; i < lanes; i++) {
        l->slab[i] = memory_alloc(size, sizeof(real), "gradient slab (lower [train] lanes)");
        transformer_init(&l->gradient[i], config, l->slab[i]);
    }
}

void lanes_free(Lanes *l) {
    for (int i = 0; i < l->lanes; i++) {
        transformer_free(&l->gradient[i]);
        memory_free(l->slab[i]);
    }
    arenas_free(l->arena, l->threads);
    memory_free(l->slab);
    memory_free(l->gradient);
}

LossSums lanes_gradient(Lanes *l, const Batch *piece, int pieces, const Transformer *p, const TransformerPositions *t,
                        double smoothing, const DropoutDraw *draw) {
    int64_t tokens = 0;
    for (int i = 0; i < pieces; i++) tokens += packed_rows(&piece[i].target);
    double scale = 1 / (double)tokens;
    LossSums *sums = memory_alloc((size_t)pieces, sizeof *sums, "loss of pieces"), total = {0};

#pragma omp parallel num_threads(l->threads)
    {
#pragma omp for schedule(static, 1) nowait
        for (int lane = 0; lane < l->lanes; lane++) {
            memset(l->slab[lane], 0, l->size * sizeof(real));
            Transformer *dp = &l->gradient[lane];
            Arena *arena = &l->arena[omp_get_thread_num()];
            for (int i = lane; i < pieces; i += l->lanes)
                sums[i] = l->rdrop > 0
                              ? transformer_rdrop_gradient(dp, &piece[i], p, t, smoothing, l->rdrop, scale, draw, arena)
                              : transformer_gradient(dp, &piece[i], p, t, smoothing, scale, draw, arena);
        }
        part_begin(PART_WAIT);
#pragma omp barrier
        part_end();
    }
    for (int i = 0; i < pieces; i++) loss_add(&total, sums[i]);
    memory_free(sums);
    return total;
}

double lanes_sum(Lanes *l) {
    int64_t size = (int64_t)l->size, blocks = (size + BLOCK - 1) / BLOCK;
    double *squares = memory_alloc((size_t)blocks, sizeof *squares, "partial sums of the gradient norm"), total = 0;
#pragma omp parallel num_threads(l->threads)
    {
        part_begin(PART_SUM);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < blocks; i++) {
            int64_t start = i * BLOCK;
            int n = (int)(size - start < BLOCK ? size - start : BLOCK);
            for (int lane = 1; lane < l->lanes; lane++) vec_add(l->slab[0] + start, l->slab[lane] + start, n);
            squares[i] = vec_sum_squares(l->slab[0] + start, n);
        }
        part_end();
    }
    for (int64_t i = 0; i < blocks; i++) total += squares[i];
    memory_free(squares);
    return sqrt(total);
}

real *lanes_spare(Lanes *l) { return l->lanes > 1 ? l->slab[1] : NULL; }
