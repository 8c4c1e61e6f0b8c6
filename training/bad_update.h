/* Updates whose loss or gradient is no number, and parameters that are none: said, counted, never saved. */
#ifndef TRAINING_BAD_UPDATE_H
#define TRAINING_BAD_UPDATE_H

#include "training/trainer.h"

/* Counts an update that was skipped and says where its pairs stand; false after [train] max_bad_updates in a row. */
bool trainer_count_bad_update(Trainer *t, const StepResult *r, Error *error);

/* Are parameters, moments and the loss of a pair finite? Nothing else may be saved. */
bool trainer_check_finite(Trainer *t, Error *error);

#endif
