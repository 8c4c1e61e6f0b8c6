/* Two facts about attention, measured. */
#ifndef STUDY_DEMOS_H
#define STUDY_DEMOS_H

#include <stdbool.h>
#include <stdio.h>

#include "study/model_check.h"

/* Why scores are divided by sqrt(d_k): what a softmax over 64 keys makes of random queries and keys of width d_k. */
typedef struct ScaleRow {
    int d_k;
    double scores;   /* standard deviation of the scores, divided by sqrt(d_k) or not */
    double entropy;  /* mean over the queries, in nats; log 64 = 4.16 at most */
    double largest;  /* mean over the queries of the largest weight */
    double gradient; /* median over the queries of the norm of the gradient of what enters the softmax, for a random
                        gradient of what leaves it */
} ScaleRow;
ScaleRow demo_scale_row(int d_k, bool scaled);
void demo_scale(FILE *out);

/* largest [T]: the largest change of a logit of each target position of `sentence` when its input token at `changed`
 * becomes another one. */
void demo_change_target(double *largest, const ModelCheck *c, int sentence, int changed);

/* Causality: position t of the decoder sees target tokens up to t. False if a later one changed something. */
bool demo_causality(FILE *out, const ModelCheck *c);

#endif
