/* Gradient check: an analytic gradient against central differences of a loss, element by element.
 *
 * The derivative with respect to x is estimated by the five-point stencil (Abramowitz and Stegun 1964, 25.3.6)
 *
 *     n = (L(x - 2h) - 8 L(x - h) + 8 L(x + h) - L(x + 2h)) / 12 h,   error h^4 L''''' / 30 + roundoff / h
 *
 * and agrees with the analytic value a when |a - n| <= relative max(|a|, |n|) + relative/100 G, where G is the
 * largest analytic value of all tensors. What is reported as the error is |a - n| / (max(|a|, |n|) + G/100): the
 * same criterion reads error <= relative.
 *
 * Where a relu changes sides within the stencil, n is no derivative. Such an element disagrees at first and is
 * tried again with h/10 and h/100; if it still disagrees, it has failed. Nothing is skipped. */
#ifndef STUDY_GRADIENT_CHECK_H
#define STUDY_GRADIENT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/real.h"

typedef struct GradientTensor {
    const char *name;
    real *value;          /* [count] moved during the check, and put back */
    const real *analytic; /* [count] the gradient to be proved */
    size_t count;
    bool zero_by_theory; /* such as k_proj.bias, which shifts all scores of a softmax row alike */
} GradientTensor;

typedef struct GradientCheck {
    double (*loss)(void *context); /* reads the tensors' values; has to be deterministic */
    void *context;
    const GradientTensor *tensor; /* [tensors] */
    int tensors;
    size_t every;    /* checks one element in so many, at least four of each tensor; 1: all */
    double step;     /* h relative to the value (or to GRADIENT_CHECK_UNIT where that is larger) */
    double relative; /* largest error that passes */
} GradientCheck;

/* For double precision (design: criterion of all gradient tests). */
#define GRADIENT_CHECK_STEP 3e-4
#define GRADIENT_CHECK_RELATIVE 1e-6
#define GRADIENT_CHECK_UNIT 0.5

/* Of one tensor, or of all together. */
typedef struct GradientResult {
    size_t checked, failed, retried;
    bool zero_wrong;          /* zero against theory, or not zero (beyond roundoff) where theory says so */
    double worst;             /* largest error */
    const char *name;         /* tensor of that error */
    size_t index;             /* element of it */
    double analytic, numeric; /* the values there */
} GradientResult;

/* The sum over all tensors. `each` [tensors] receives the single results; NULL: not wanted. */
GradientResult gradient_check(const GradientCheck *check, GradientResult *each);

static inline bool gradient_check_passed(const GradientResult *r) {
    return r->failed == 0 && !r->zero_wrong && r->checked > 0;
}

#endif
