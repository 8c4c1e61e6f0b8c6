#include "study/gradient_check.h"

#include <assert.h>

#include "base/rng.h"

enum { TRIES = 3, LEAST_SAMPLES = 4 };

static double magnitude(double x) { return x < 0 ? -x : x; }

static double larger(double x, double y) { return x > y ? x : y; }

/* NaN counts as the largest: a gradient that is NaN must not make everything pass. */
static double largest(const GradientTensor *t) {
    double most = 0;
    for (size_t i = 0; i < t->count; i++) {
        double a = magnitude((double)t->analytic[i]);
        if (!(a <= most)) most = a;
        if (most != most) break;
    }
    return most;
}

/* dL/dx for the element at `value`. */
static double central_difference(const GradientCheck *check, real *value, double h) {
    static const int place[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
    real x = *value;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        *value = (real)((double)x + place[i] * h);
        sum += weight[i] * check->loss(check->context);
    }
    *value = x;
    return sum / (12 * h);
}

/* Tries smaller and smaller steps until the two agree, and keeps the best of them. */
static void check_element(GradientResult *r, const GradientCheck *check, const GradientTensor *t, size_t i,
                          double scale) {
    double a = (double)t->analytic[i], best = 0, best_numeric = 0;
    double h = check->step * larger(magnitude((double)t->value[i]), GRADIENT_CHECK_UNIT);
    bool passed = false;
    for (int try = 0; try < TRIES && !passed; try++, h /= 10) {
        double n = central_difference(check, &t->value[i], h), difference = magnitude(a - n);
        double error = difference / (larger(magnitude(a), magnitude(n)) + scale / 100);
        if (difference == 0) error = 0; /* not 0/0 */
        passed = error <= check->relative;
        if (try == 1) r->retried++;
        if (try == 0 || error < best) {
            best = error;
            best_numeric = n;
        }
    }
    r->checked++;
    if (!passed) r->failed++;
    if (r->name == NULL || !(best <= r->worst)) {
        r->worst = best;
        r->name = t->name;
        r->index = i;
        r->analytic = a;
        r->numeric = best_numeric;
    }
}

static GradientResult check_tensor(const GradientCheck *check, int number, double scale) {
    const GradientTensor *t = &check->tensor[number];
    GradientResult r = {0};
    double most = largest(t);
    if (t->zero_by_theory)
        r.zero_wrong = !(most <= check->relative * check->relative * scale);
    else
        r.zero_wrong = most == 0;
    size_t step = check->every;
    if (step > t->count / LEAST_SAMPLES) step = t->count / LEAST_SAMPLES;
    if (step < 1) step = 1;
    for (size_t i = hash64((uint64_t)number) % step; i < t->count; i += step) check_element(&r, check, t, i, scale);
    return r;
}

static void add_result(GradientResult *sum, const GradientResult *r) {
    GradientResult counts = *sum;
    if (sum->name == NULL || !(r->worst <= sum->worst)) *sum = *r;
    sum->checked = counts.checked + r->checked;
    sum->failed = counts.failed + r->failed;
    sum->retried = counts.retried + r->retried;
    sum->zero_wrong = counts.zero_wrong || r->zero_wrong;
}

GradientResult gradient_check(const GradientCheck *check, GradientResult *each) {
    assert(check->every >= 1);
    assert(check->step > 0 && check->relative > 0);
    GradientResult sum = {0};
    double scale = 0;
    for (int t = 0; t < check->tensors; t++) {
        double most = largest(&check->tensor[t]);
        if (!(most <= scale)) scale = most;
    }
    for (int t = 0; t < check->tensors; t++) {
        GradientResult r = check_tensor(check, t, scale);
        if (each != NULL) each[t] = r;
        add_result(&sum, &r);
    }
    return sum;
}
