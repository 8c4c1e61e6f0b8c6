/* metrics.jsonl: one JSON object a line, appended, so that a run can be looked at while it runs and after.
 *
 * kind "train" and "valid" carry the same two losses: `loss` is the objective (with label smoothing), `nll` is without,
 * both per target token in nats; ppl = exp(nll). A resume appends {"kind":"resume","update":n}; readers drop what it
 * supersedes: earlier lines of later updates. A value that is not finite is null. Every line begins with its kind and
 * update. */
#ifndef TRAINING_METRICS_H
#define TRAINING_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct TrainMetrics {
    int64_t update;
    int epoch; /* from 1 */
    double loss, nll, lr, grad_norm, target_tokens_per_s, source_tokens_per_s, seconds;
} TrainMetrics;

typedef struct ValidMetrics {
    int64_t update;
    int epoch;
    double loss, nll, seconds;
    double bleu, chrf, exact_match; /* percent */
    bool best;
    const char *buckets, *samples; /* JSON (training/valid_details.h); NULL: none */
} ValidMetrics;

bool metrics_append_train(const char *path, const TrainMetrics *m, Error *error);
bool metrics_append_valid(const char *path, const ValidMetrics *m, Error *error);
bool metrics_append_resume(const char *path, int64_t update, Error *error);

#endif
