/* The encoder for decoding: encoder.c with packed weights, all sentences of a batch together, and nothing kept but what
 * the decoder will read. Each row is summed in one fixed order, so a sentence's bits do not depend on the others. */
#ifndef DECODING_ENCODE_H
#define DECODING_ENCODE_H

#include "decoding/step_cache.h"
#include "decoding/step_model.h"

/* memory [N,D_enc]: the encoder's output for the sentences of `rows`, ids [N] with </s>. */
void encode(real *memory, const StepModel *m, const int *ids, const Packed *rows, Arena *scratch);

/* Fills the cache's keys and values of its sources, for the cross-attention of every layer. */
void encode_sources(StepCache *cache, const StepModel *m, const int *ids, Arena *scratch);

#endif
