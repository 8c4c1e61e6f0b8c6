/* The end of a training, and how a run that goes on undoes it.
 *
 * At the end the last weights are validated, even off the schedule, and the snapshots are averaged; the best of all
 * becomes model.safetensors. None of it is part of the course of training: the saved best and stall count stay those of
 * the schedule, the model of the schedule is kept aside, and lines of metrics.jsonl are marked as closing. So a run that
 * is given more updates later goes on as if it had never stopped. */
#ifndef TRAINING_CONCLUDE_H
#define TRAINING_CONCLUDE_H

#include "training/trainer.h"

/* Before the first update of a process: saves a first state, or undoes an earlier conclusion. */
bool trainer_begin(Trainer *t, Error *error);

/* At the end of training: validates the last weights and the average, and saves a state that says so. */
bool trainer_conclude(Trainer *t, Error *error);

/* Has that been done with the present state, so that nothing is left to do? */
bool trainer_concluded(const Trainer *t);

/* Copies model.safetensors, of a scheduled validation, aside before it is replaced by what concluding found. */
bool trainer_keep_scheduled_model(Trainer *t, Error *error);

#endif
