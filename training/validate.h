/* Validation: the two losses without dropout, and the scores of greedy translations. */
#ifndef TRAINING_VALIDATE_H
#define TRAINING_VALIDATE_H

#include "training/trainer.h"

/* Mean losses, BLEU, chrF and exact matches on the validation corpus, of the served weights; prints samples, and writes
 * model.safetensors where the value of [valid] metric is the best so far. A scheduled validation, m = {0}, counts as one
 * without a new best else; of another occasion m.closing, m.snapshot and m.snapshots tell. */
bool trainer_validate(Trainer *t, ValidMetrics m, Error *error);

/* Is there a best value to compare with? */
bool trainer_has_best(const Trainer *t);

/* Which BLEU and chrF those are. */
void trainer_print_signatures(Trainer *t);

#endif
