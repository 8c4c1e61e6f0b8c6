/* A small Transformer with everything that belongs to it, and small batches, for tests of the whole model. */
#ifndef TESTS_SMALL_MODEL_H
#define TESTS_SMALL_MODEL_H

#include "model/transformer.h"

enum { SMALL_VOCAB = 23 };

typedef struct SmallModel {
    ParamTable table;
    real *parameters, *gradients; /* [table.total] */
    Transformer p, dp;
    TransformerPositions positions;
    Arena arena;
} SmallModel;

/* Two layers a side, two heads. Where the ties allow it, widths, vocabularies, d_k and d_v differ. No dropout. */
ModelConfig small_config(NormPlace norm, Activation activation, TieEmbeddings tie);

void small_model_init(SmallModel *m, const ModelConfig *config, uint64_t seed);
void small_model_free(SmallModel *m);

/* Adds noise to all parameters: at first biases are 0 and norms 1, which would hide mistakes. */
void small_model_stir(SmallModel *m, uint64_t seed);

/* Random sentence pairs; lengths count </s>. Corpus indices 100, 101 ... */
Batch small_batch(const ModelConfig *config, int sentences, const int *source_lengths, const int *target_lengths,
                  uint64_t seed);
void small_batch_free(Batch *batch);

/* Sentences chosen[0], chosen[1] ... of a batch, as a batch of its own. */
Batch small_batch_choose(const Batch *whole, int count, const int *chosen);

#endif
