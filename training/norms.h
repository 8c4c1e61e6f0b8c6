/* How large gradients, weights and updates are, block by block: what tells a layer that learns nothing or too fast.
 *
 * A group holds the tensors of a block: "embeddings" ("embeddings.source" and "embeddings.target" where they are two
 * tensors), "encoder.0.self_attn", "encoder.0.ffn", ..., "encoder.norm" (pre-norm), "decoder.0.self_attn",
 * "decoder.0.encoder_attn", "decoder.0.ffn", ..., "decoder.norm", "output" (where it is a tensor of its own). A block's
 * layer norm belongs to the block. Groups stand in the order of computation.
 *
 * The update is what the optimizer did: parameters before minus after. Its norm over that of the weights is healthy
 * around 1e-3 (Karpathy, CS231n notes, "Ratio of weights:updates"). */
#ifndef TRAINING_NORMS_H
#define TRAINING_NORMS_H

#include "model/params.h"

enum { NORM_GROUP_NAME = 96 };

/* The group of a tensor, by the tensor's name alone. One that belongs to no block is a group of its own. */
void norm_group_name(char out[NORM_GROUP_NAME], const char *tensor);

typedef struct Norms {
    const ParamTable *table; /* borrowed */
    int *group_of;           /* [table->count] */
    int groups;
    char (*name)[NORM_GROUP_NAME];      /* [groups] and the L2 norms of each: */
    double *gradient, *weight, *update; /* before clipping; before the update */
    real *before, *owned;               /* [table->total] parameters, between begin and end */
} Norms;

void norms_init(Norms *n, const ParamTable *table);
void norms_free(Norms *n);

/* Around an update of the parameters in `slab`. Sums are in double and in the order of the table, on any number of
 * threads. In between, `spare` [table->total] is overwritten; NULL: memory is taken for it. */
void norms_begin(Norms *n, const real *slab, const real *gradient, real *spare, int threads);
void norms_end(Norms *n, const real *slab, int threads);

#endif
