/* Attention of a decoding step: softmax(q K' / sqrt K) V of attention_core.c (Vaswani et al. 2017, eq. 1) where the keys
 * and values are cached. Every result is summed in one fixed order, whatever rows stand beside it. */
#ifndef DECODING_CACHED_ATTENTION_H
#define DECODING_CACHED_ATTENTION_H

#include "decoding/step_cache.h"

/* The places that the rows of a step see: for row r the slots path[r stride .. + keys[r]), place by place. */
typedef struct StepPaths {
    int stride;
    int *keys, *path;
} StepPaths;

StepPaths step_paths(const StepCache *cache, const StepRows *rows, Arena *arena);

/* Each row to the tokens on its path, itself the last. out [rows, H Vd]; q has rows of `q_stride`. */
void cached_self_attention(real *out, const real *q, int q_stride, const StepCache *cache, int layer,
                           const StepPaths *paths, int rows, Arena *scratch);

/* Each row to the source of its sentence: the hypotheses of a sentence are rows of Q against one K, V.
 * q [rows, H K]. */
void cached_cross_attention(real *out, const real *q, const StepCache *cache, int layer, const StepRows *rows,
                            Arena *scratch);

#endif
