/* The learning rate as a pure function of the update, the configuration and the validations so far, so that a resumed run
 * continues the same curve. */
#ifndef TRAINING_SCHEDULE_H
#define TRAINING_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "run/config.h"

/* Learning rate of update u = 1, 2, ..., after so many reductions (plateau). In [train]'s terms it rises in a line from
 * warmup_start to lr over `warmup` updates, then
 *   inverse_sqrt  lr sqrt(warmup / u)   (fairseq's form of Vaswani et al. 2017, eq. 3; warmup >= 1)
 *   linear        falls to lr / (updates + 1 - warmup) at the last of `updates`, and is 0 after it
 *   cosine        lr_min + (lr - lr_min) (1 + cos(pi (u - warmup) / (updates - warmup))) / 2, lr_min after `updates`
 *                 (Loshchilov and Hutter 2017, eq. 5, without restarts)
 *   constant      lr
 *   plateau       lr plateau_factor^reductions, at least lr_min
 * and, with a warmup of its own,
 *   noam          lr d_model^-0.5 min(u^-0.5, u warmup^-1.5)   (Vaswani et al. 2017, eq. 3, times lr; warmup >= 1) */
double schedule_lr(const Config *config, int reductions, int64_t u);

/* Does [train] schedule = plateau lower the rate after the validation at this update, the last `stalled` ones without a
 * new best? At each plateau_patience of them, after warmup, while the rate is above lr_min. */
bool schedule_reduces(const Config *config, int reductions, int stalled, int64_t update);

#endif
