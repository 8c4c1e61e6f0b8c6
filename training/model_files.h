/* model.safetensors and snapshots: the served weights in files, and what happens when one cannot be written. */
#ifndef TRAINING_MODEL_FILES_H
#define TRAINING_MODEL_FILES_H

#include "training/trainer.h"

/* Is there a model.safetensors, or one owed? */
bool trainer_has_model(const Trainer *t);

/* With [output] on_write_error = continue: says the error, and training goes on. Else false. */
bool trainer_forgives(Trainer *t, const Error *error);

/* Writes the served weights to this path. Where a failure is forgiven they are owed. */
bool trainer_save_weights(Trainer *t, const char *path, Error *error);

/* The same to model.safetensors. */
bool trainer_save_model(Trainer *t, Error *error);

/* The same, and no failure is forgiven. */
bool trainer_must_save_model(Trainer *t, Error *error);

/* Writes the weights and lines of metrics.jsonl that could not be written before. */
bool trainer_write_owed(Trainer *t, Error *error);

#endif
