/* metrics.jsonl: one JSON object a line, appended, so that a run can be looked at while it runs and after.
 *
 * kind "train" and "valid" carry the same two losses: `loss` is the objective (with label smoothing), `nll` is without,
 * both per target token in nats; ppl = exp(nll). A value that is not finite is null. "average" is a "valid" of averaged
 * weights, with the updates of the "snapshots" that were averaged. "norms" has those of training/norms.h, block by block.
 * Every line begins with its kind and update. docs/training.md lists the keys.
 *
 * Going on after update n, or starting over (n = 0), appends {"kind":"resume","update":n}; readers drop what it
 * supersedes: earlier lines of later updates, and earlier lines with "closing": true, which a training writes when it
 * ends (training/conclude.c). A line that a crash cut off is no JSON; readers drop it too. */
#ifndef TRAINING_METRICS_H
#define TRAINING_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "training/norms.h"

/* The file. A line that could not be written is kept and written before the next. */
typedef struct Metrics {
    char *path;
    char *owed; /* lines without their last \n, or NULL */
} Metrics;

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
    bool closing;                  /* at the end of training, off the schedule */
    const int64_t *snapshot;       /* [snapshots] their updates, where the weights are an average */
    int snapshots;
} ValidMetrics;

void metrics_open(Metrics *metrics, const char *path);
void metrics_close(Metrics *metrics); /* a zeroed one too */

bool metrics_append_train(Metrics *metrics, const TrainMetrics *m, Error *error);
bool metrics_append_valid(Metrics *metrics, const ValidMetrics *m, Error *error);
bool metrics_append_norms(Metrics *metrics, int64_t update, int epoch, const Norms *norms, Error *error);
bool metrics_append_resume(Metrics *metrics, int64_t update, Error *error);

/* Writes what is owed. */
bool metrics_flush(Metrics *metrics, Error *error);

#endif
