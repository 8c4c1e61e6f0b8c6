/* The learning rate as a pure function of the update, so that a resumed run continues the same curve. */
#ifndef TRAINING_SCHEDULE_H
#define TRAINING_SCHEDULE_H

#include <stdint.h>

#include "run/config.h"

/* Learning rate of update u = 1, 2, ... It rises linearly to lr over `warmup` updates, then
 *   inverse_sqrt  lr sqrt(warmup / u)   (fairseq's form of Vaswani et al. 2017, eq. 3; warmup >= 1)
 *   linear        falls to lr / (updates + 1 - warmup) at the last of `updates`, and is 0 after it
 *   constant      stays */
double schedule_lr(ConfigSchedule schedule, double lr, int warmup, int updates, int64_t u);

#endif
