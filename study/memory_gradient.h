/* The gradient that arrives at the encoder's output ("memory"), and its parts.
 *
 * Every decoder layer's cross-attention reads memory twice: k = memory Wk' + bk says where to look, v = memory Wv' + bv what
 * comes back. So dmemory = sum over layers of dk Wk + dv Wv: two parts a layer. */
#ifndef STUDY_MEMORY_GRADIENT_H
#define STUDY_MEMORY_GRADIENT_H

#include <stdio.h>

#include "study/model_check.h"

typedef struct MemoryGradient {
    int rows, cols, layers;
    real *value;         /* [rows,cols] memory itself */
    real *whole;         /* [rows,cols] dmemory, as the decoder's backward hands it to the encoder */
    real *keys, *values; /* [layers,rows,cols] the parts */
} MemoryGradient;

/* Free with memory_gradient_free. The part through one projection is dmemory of a backward in which all others of
 * cross-attention's key and value weights are zero: nothing else of a backward reads them. */
void memory_gradient_init(MemoryGradient *g, const ModelCheck *c);
void memory_gradient_free(MemoryGradient *g);

/* dmemory against central differences: the decoder and the loss on a memory that is moved. */
GradientResult memory_gradient_check(const MemoryGradient *g, const ModelCheck *c, size_t most, GradientTensor *tensor);

/* Norms of the parts. */
void memory_gradient_print(const MemoryGradient *g, FILE *out);

#endif
