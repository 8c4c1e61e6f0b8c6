/* The learning rate as a pure function of the update, so that a resumed run continues the same curve. */
#ifndef TRAINING_SCHEDULE_H
#define TRAINING_SCHEDULE_H

#include <stdint.h>

#include "run/config.h"

/* Learning rate of update u = 1, 2, ... After a linear warmup to lr: inverse_sqrt lr sqrt(warmup / u) (fairseq's form of
 * Vaswani et al. 2017, eq. 3), or constant. warmup 0 is no warmup: inverse_sqrt then decays from update 1. */
double schedule_lr(ConfigSchedule schedule, double lr, int warmup, int64_t u);

#endif
