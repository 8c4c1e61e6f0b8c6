/* The arithmetic of a training update, counted as the literature does: 6 floating-point operations a weight and token
 * (2 in the forward pass, 4 in the backward), over the weights of matrix products alone, and real tokens alone. */
#ifndef MEASURING_WORK_H
#define MEASURING_WORK_H

#include <stdint.h>

#include "base/batch.h"
#include "model/config.h"

/* Of all matrix products with weights. Tokens count </s>. Keys and values of cross-attention belong to the source. */
double work_products(const ModelConfig *model, int64_t source_tokens, int64_t target_tokens);

/* Of Q K' and A V in all attention layers: 6 (d_k + d_v) a head and pair of a query with a key that it sees. */
double work_attention(const ModelConfig *model, const Batch *batch);

#endif
