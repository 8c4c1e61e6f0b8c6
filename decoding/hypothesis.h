/* A translation as the search found it: tokens with their probabilities and what they looked at. */
#ifndef DECODING_HYPOTHESIS_H
#define DECODING_HYPOTHESIS_H

#include <stdbool.h>

#include "decoding/step_cache.h"

typedef struct Hypothesis {
    int *ids; /* [count] without </s>, from memory_alloc; NULL: there is none */
    int count;
    double log_p, score; /* of ids and </s>, in nats, and as beam.h defines it */
    double *token_log_p; /* [count+1] of each token, </s> the last; NULL where it was not asked for */
    real *attention;     /* [count+1, source_length] cross-attention of each token when it was predicted; or NULL */
    int source_length;   /* with </s> */
} Hypothesis;

void hypothesis_free(Hypothesis *h);

/* The ids on the path to place `count` of a slot (place 0 holds <s>). */
void hypothesis_ids(int *ids, const StepCache *cache, int count, int slot);

/* Fills all but log_p and score from the caches of `models` models, which hold the same tokens: end_log_p is of </s>. */
void hypothesis_trace(Hypothesis *h, const StepCache *cache, int models, int count, int slot, double end_log_p,
                      bool token_log_p, bool attention);

/* Wu et al. 2016, eq. 14, without its factor: sum_i log min(1, sum_j a_ij) over the source tokens i without </s>, where
 * a_ij is the attention to them when target token j, </s> included, was predicted. Finite, and at most 0. */
double hypothesis_coverage(const StepCache *cache, int models, int count, int slot);

#endif
