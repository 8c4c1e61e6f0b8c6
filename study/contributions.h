/* What a gradient is the sum of: the uses of a tied matrix, and the sentences of the batch. */
#ifndef STUDY_CONTRIBUTIONS_H
#define STUDY_CONTRIBUTIONS_H

#include "study/model_check.h"

enum { EMBEDDING_SITES = 3 };
typedef struct Contribution {
    const char *name;
    double value;
} Contribution;

/* The gradient of element `index` of a tied matrix through its uses as source embedding, target embedding and output
 * layer: those of the same model untied, with equal values. Returns how many uses there are, 0 for any other tensor. */
int contributions_by_use(Contribution part[EMBEDDING_SITES], const ModelCheck *c, int param, size_t index);

/* value [sentences]: the gradient of the element from each sentence's share of the loss. */
void contributions_by_sentence(double *value, const ModelCheck *c, int param, size_t index);

#endif
