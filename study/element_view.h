/* One element of one tensor of the model in full: its gradient with what that is the sum of, and central differences for
 * step after step, whose errors make a V. */
#ifndef STUDY_ELEMENT_VIEW_H
#define STUDY_ELEMENT_VIEW_H

#include <stdio.h>

#include "base/error.h"
#include "study/model_check.h"

typedef struct ElementPlace {
    int param; /* in the table */
    size_t index;
} ElementPlace;

/* "NAME[i,j]", or "NAME[i]" of a vector. The error of a name that does not exist tells the nearest one. */
bool element_find(ElementPlace *place, const ParamTable *table, const char *text, Error *error);

/* Errors of the differences for h = 1e-2, 10^-2.5, ... 1e-10. */
enum { ELEMENT_STEPS = 17 };
typedef struct StepErrors {
    double h[ELEMENT_STEPS], two_point[ELEMENT_STEPS], five_point[ELEMENT_STEPS]; /* the numerical gradients */
    bool kink[ELEMENT_STEPS];                                                     /* a relu changes sides within 2h */
} StepErrors;

void element_differences(StepErrors *e, const GradientCheck *check, real *value);

/* Where the two-point difference is nearest to `analytic`. */
int element_best_step(const StepErrors *e, double analytic);

/* Overwrites the gradients of c. */
void element_view(FILE *out, ModelCheck *c, ElementPlace place);

#endif
