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
 * tried again with h/10 and h/100. If it still disagrees, it has failed, but where `pattern` proves that a relu changes
 * sides, it is skipped, and counted: within the stencil of h/100; or within that of h/10, so that h/100 stands alone, if
 * the error is at most ten times the bound, as roundoff / h has grown. */
#ifndef STUDY_GRADIENT_CHECK_H
#define STUDY_GRADIENT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/real.h"

typedef struct GradientTensor {
    const char *name;
    real *value;          /* [count] moved during the check, and put back */
    const real *analytic; /* [count] the gradient to be proved */
    size_t count;
    const char *zero; /* why the gradient is zero by theory, as k_proj.bias's, which shifts all scores of a softmax row
                         alike; NULL where it is not */
    int rows, cols;   /* its shape, for reports; rows 0: a vector */
} GradientTensor;

/* Of one tensor, or of all together. */
typedef struct GradientResult {
    size_t checked, failed, retried, skipped;
    bool zero_wrong;          /* zero against theory, or not zero (beyond roundoff) where theory says so */
    double absolute;          /* largest |a - n| */
    double worst;             /* largest error */
    const char *name;         /* tensor of that error */
    size_t index;             /* element of it */
    double analytic, numeric; /* the values there */
} GradientResult;

typedef struct GradientCheck {
    double (*loss)(void *context);      /* reads the tensors' values; has to be deterministic */
    uint64_t (*pattern)(void *context); /* a number for the sides on which all relus are; NULL: nothing is skipped */
    void *context;
    const GradientTensor *tensor; /* [tensors] */
    int tensors;
    size_t every;    /* checks one element in so many, at least four of each tensor; 1: all */
    size_t most;     /* of each tensor; 0: any number */
    double step;     /* h relative to the value (or to GRADIENT_CHECK_UNIT where that is larger) */
    double relative; /* largest error that passes */
    void (*done)(void *context, int tensor, const GradientResult *result); /* called after each; NULL: not wanted */
} GradientCheck;

/* Criterion of all gradient tests, which run in double. A float has 24 bits: a step large enough that the change of the
 * loss rises out of their rounding, and a bound that only gross mistakes exceed. */
#define GRADIENT_CHECK_STEP (REAL_IS_DOUBLE ? 3e-4 : 1e-2)
#define GRADIENT_CHECK_RELATIVE (REAL_IS_DOUBLE ? 1e-6 : 1e-1)
#define GRADIENT_CHECK_UNIT 0.5

/* n, for the element at `value`. */
double gradient_five_point(const GradientCheck *check, real *value, double h);

/* (L(x + h) - L(x - h)) / 2h, error h^2 L''' / 6 + roundoff / h. */
double gradient_two_point(const GradientCheck *check, real *value, double h);

/* Does a relu change sides between x - reach and x + reach? False where the check has no pattern. */
bool gradient_has_kink(const GradientCheck *check, real *value, double reach);

/* Elements of a tensor of so many that are checked: one in each block of *block, all where that is 1. */
size_t gradient_check_samples(const GradientCheck *check, size_t count, size_t *block);

/* The sum over all tensors. `each` [tensors] receives the single results; NULL: not wanted. */
GradientResult gradient_check(const GradientCheck *check, GradientResult *each);

/* Adds a result to a sum, which keeps the worst. */
void gradient_result_add(GradientResult *sum, const GradientResult *r);

static inline bool gradient_check_passed(const GradientResult *r) {
    return r->failed == 0 && !r->zero_wrong && r->checked > 0;
}

#endif
