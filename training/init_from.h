/* A new run that starts from another one ([train] init_from): from its tokenizers, which replace learning, and from the
 * weights in its model.safetensors, as far as they fit by name and shape. Optimizer, schedule and data begin anew. */
#ifndef TRAINING_INIT_FROM_H
#define TRAINING_INIT_FROM_H

#include "run/loaded_run.h"
#include "training/trainer.h"

/* Reads the run at [train] init_from; source->slab stays NULL where there is none, or where [output] dir holds a state to go
 * on from instead. Writes nothing, so that it can come before the directory is touched. Fails on what is no run or is
 * damaged, and where no matrix of it fits the configured model. On failure there is nothing to free. */
bool init_from_read(LoadedRun *source, const Config *config, bool fresh, Error *error);

/* The [tokenizer] keys that learning would have used become those that the tokenizer was learned with; says which were
 * others. dropout and invalid_utf8 stay. */
void init_from_adopt_keys(Trainer *t, const Config *source);

/* Moves the tokenizers to t, and saves them in its run. */
bool init_from_take_tokenizers(Trainer *t, LoadedRun *source, Error *error);

/* Copies the tensors that fit into t->slab, and names each that does not: it keeps its initial value. */
void init_from_copy_weights(Trainer *t, const LoadedRun *source);

#endif
