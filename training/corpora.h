/* The training and validation corpora of a run: read, encoded or taken from the run's cache, filtered, and described. */
#ifndef TRAINING_CORPORA_H
#define TRAINING_CORPORA_H

#include "training/trainer.h"

/* Reads the texts that [data] names; `valid` has no lines where there are none. Fails on text that is not UTF-8 where
 * [tokenizer] invalid_utf8 = reject. On failure there is nothing to free. */
bool corpora_read(ParallelText *train, ParallelText *valid, const Config *config, Error *error);

/* As [tokenizer] says; NULL where the text cannot give that. */
Tokenizer *corpora_learn_tokenizer(const Config *config, const Lines *const *texts, int count, Error *error);

/* Learns t's tokenizers from the training text, where t has none yet, and fills t->train, in memory alone: for looking at a
 * configuration without a run directory. Fails where no pair is left. */
bool corpora_learn(Trainer *t, const ParallelText *train, Error *error);

/* Fills t->train and, from t->valid_text, t->valid, and prints what was kept and dropped. Fails where no pair is left. */
bool corpora_encode(Trainer *t, const ParallelText *train, Error *error);

#endif
