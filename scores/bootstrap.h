/* Bootstrap resampling: how far a score would move with other sentences of the same kind (Koehn 2004).
 *
 * A sample draws as many sentences as there are, with replacement. The draws are those of sacreBLEU, that is of NumPy's
 * default_rng(seed).choice(n, (samples, n)): the seed is spread over 256 bits by SeedSequence, PCG64 (O'Neill 2014, the
 * XSL-RR output function) makes 64 bits a step, and each half of them becomes a number below n by multiplication with
 * rejection (Lemire 2019). So intervals and p-values are sacreBLEU's too. */
#ifndef SCORES_BOOTSTRAP_H
#define SCORES_BOOTSTRAP_H

#include "scores/metric.h"

enum { BOOTSTRAP_SAMPLES = 1000, BOOTSTRAP_SEED = 12345 }; /* sacreBLEU's defaults */

__extension__ typedef unsigned __int128 Uint128;

typedef struct Draws {
    Uint128 state, increment;
    uint64_t bits;
    bool half_left; /* the upper half of bits is still to be used */
} Draws;

void draws_init(Draws *d, uint64_t seed);
uint32_t draws_below(Draws *d, uint32_t n); /* n > 0 */

/* out [samples]: the metric's score of each sample. The same seed draws the same sentences for every metric and system
 * with that many. c->sentences is at least 1. */
void bootstrap_scores(double *out, const Counts *c, int samples, uint64_t seed);

/* mean ± half is where 95% of the scores lie. Sorts them. */
typedef struct Interval {
    double mean, half;
} Interval;
Interval bootstrap_interval(double *scores, int samples);

/* The chance of a difference as large as that of the two systems if they were equally good: the share of samples whose
 * difference |a - b| lies further above its mean than `difference`, the systems' own, in absolute value. With
 * the sample itself counted in: (c + 1) / (samples + 1). Where no sample differs at all it is 1. a and b [samples] come
 * from the same seed. */
double bootstrap_p_value(const double *a, const double *b, int samples, double difference);

#endif
