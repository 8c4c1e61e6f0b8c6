/* Translation, timed: sentences of the corpus by the model at hand. */
#ifndef MEASURING_DECODE_H
#define MEASURING_DECODE_H

#include "training/trainer.h"

enum { DECODE_ROWS = 4 };

typedef struct DecodeTime {
    const char *name;                     /* greedy or beam 5, batched on all threads or one by one on one */
    double sentences_per_s, tokens_per_s; /* target tokens of the best hypotheses */
    double median_ms;                     /* of one sentence; batched: 0 */
} DecodeTime;

/* A model after a few updates does not know where a sentence ends: translations get as many tokens as their sources
 * have, </s> counted, so that figures compare with those of a trained model on texts of that length. `sentences` are
 * decoded batched, and an eighth of them one by one. */
void decode_measure(DecodeTime times[DECODE_ROWS], Trainer *t, int sentences);

#endif
