/* Exponential moving average of the weights: often translates better than the last weights do (Polyak and Juditsky 1992
 * average all of a run; Szegedy et al. 2016 evaluate with a running average such as this). */
#ifndef TRAINING_EMA_H
#define TRAINING_EMA_H

#include <stddef.h>
#include <stdint.h>

#include "base/real.h"

/* An average that starts from p [size]; from memory_alloc. */
real *ema_new(const real *p, size_t size);

/* min(decay, (1 + u) / (10 + u)) after update u: early on the average forgets faster, so that it is soon rid of the initial
 * weights (the rule of TensorFlow's ExponentialMovingAverage with num_updates). */
double ema_decay(double decay, int64_t u);

/* average = decay average + (1 - decay) p. Elementwise, so the bits do not depend on threads. */
void ema_update(real *average, const real *p, size_t size, double decay, int threads);

#endif
