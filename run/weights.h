/* A model's parameters in a file, tensor by tensor under their Hugging Face names, float32. */
#ifndef RUN_WEIGHTS_H
#define RUN_WEIGHTS_H

#include "model/config.h"
#include "model/params.h"
#include "run/config.h"
#include "run/safetensors.h"

/* The sizes of the configured model with these vocabularies. */
ModelConfig weights_model_config(const Config *config, int source_vocab, int target_vocab);

/* Names the vocabulary that a model's ids belong to. */
uint64_t weights_vocabulary(const Tokenizer *source, const Tokenizer *target);

/* Writes all tensors of a slab [table->total]. Metadata names the vocabulary, so that a file from
 * another run's vocabulary is noticed. */
bool weights_save(const char *path, const real *slab, const ParamTable *table, uint64_t vocabulary, Error *error);

/* Fills a slab from a file that has exactly the table's tensors; otherwise the error names the tensor and
 * both shapes. */
bool weights_load(real *slab, const ParamTable *table, const char *path, uint64_t vocabulary, Error *error);

#endif
