/* What a run tells while it trains: the same figures as lines of the log, in metrics.jsonl and for TensorBoard. */
#ifndef TRAINING_MESSAGES_H
#define TRAINING_MESSAGES_H

#include "training/metrics.h"
#include "training/trainer.h"

/* Training is about to start, or to start again. */
void messages_begin(Trainer *t);

/* A line for the updates since the last one. False if metrics.jsonl cannot be written. */
bool messages_train(Trainer *t, const TrainMetrics *m, Error *error);

/* The norms of the last update, to metrics.jsonl. */
bool messages_norms(Trainer *t, Error *error);

/* The figures of a line, shorter, on the progress line alone. */
void messages_progress(const TrainMetrics *m, const Trainer *t);

/* After a validation, and after t->state has taken note of it. */
bool messages_valid(Trainer *t, const ValidMetrics *m, Error *error);

/* The summary: why training ended, what is the best model, and how to translate with it. `program` is the path by which
 * train was called: translate lies beside it. */
void messages_end(Trainer *t, TrainEnd end, const char *program);

/* The other end: the error, which is said even where all else is quiet. */
void messages_failed(Trainer *t, const Error *error);

#endif
