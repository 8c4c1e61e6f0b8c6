/* The decoder one token at a time: each step computes one row a hypothesis, against cached keys and values.
 *
 * The same layers as decoder_layer.c; the linear layers (packed_linear.h) and the attention (cached_attention.h) are
 * computed so that the logits of a hypothesis have the same bits alone and in any batch. */
#ifndef DECODING_STEP_H
#define DECODING_STEP_H

#include "decoding/logits.h"
#include "decoding/step_cache.h"
#include "decoding/step_model.h"

/* Encodes the sources and opens a cache with `width` slots a sentence and at most `capacity` places, all in the arena.
 * source_ids end with </s>. */
StepCache step_begin(const StepModel *m, const int *source_ids, Packed source, int width, int capacity, Arena *arena);

/* Feeds the rows' tokens (<s> at place 0) and gives the logits of what follows each. The cache grows in the arena. */
void step_forward(Logits *logits, StepCache *cache, const StepModel *m, const StepRows *rows, Arena *arena);

/* The same for who wants no more than each row's largest logit from first_allowed on, and that of </s>: where it saves
 * time, others are left out (shortlist.h). */
void step_forward_largest(Logits *logits, int first_allowed, StepCache *cache, const StepModel *m, const StepRows *rows,
                          Arena *arena);

#endif
