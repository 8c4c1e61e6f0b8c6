/* Saving and resuming: what TrainState and the tensors need to go on bit for bit. */
#ifndef TRAINING_STATE_H
#define TRAINING_STATE_H

#include "training/trainer.h"

/* Writes what is owed, then the state, then, while there is no best, the model; removes snapshots that are no longer
 * needed. So a state on disk never tells of files that are not there. */
bool trainer_save(Trainer *t, Error *error);

/* The same without the model. */
bool trainer_save_state(Trainer *t, Error *error);

/* Loads the state into a trainer whose corpora and model are ready. Fails where they are not those that it was saved
 * with. */
bool trainer_resume(Trainer *t, Error *error);

#endif
