/* Averaging of checkpoints (Polyak's idea; Vaswani et al. 2017, section 6.1, average the last 5 or 20): snapshots are
 * taken on the way, and their mean is tried at the end of training. */
#ifndef TRAINING_AVERAGE_H
#define TRAINING_AVERAGE_H

#include "training/trainer.h"

/* Keeps the served weights as the youngest of [average] last. */
bool trainer_take_snapshot(Trainer *t, Error *error);

/* Keeps them if their value of the validation metric is among [average] best. */
bool trainer_offer_snapshot(Trainer *t, double value, Error *error);

/* Validates the mean of the snapshots, which becomes model.safetensors if it is better than the best so far or nothing
 * can be compared. Leaves the weights as they are. */
bool trainer_average(Trainer *t, Error *error);

#endif
