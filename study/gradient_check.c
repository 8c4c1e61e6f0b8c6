#include "study/gradient_check.h"

#include <assert.h>

#include "base/rng.h"

enum { TRIES = 3, LEAST_SAMPLES = 4 };

/* Where a kink leaves the smallest step alone, an error up to so many times the bound may be rounding. */
enum { ROUNDING = 10 };

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

/* Moves the value, which is then a real as near to x as there is; returns the loss there. */
static double loss_at(const GradientCheck *check, real *value, real x) {
    real before = *value;
    *value = x;
    double loss = check->loss(check->context);
    *value = before;
    return loss;
}

/* Divides by the step that was taken: h is no multiple of the value's last place. A step of none finds no slope. */
double gradient_two_point(const GradientCheck *check, real *value, double h) {
    real low = (real)((double)*value - h), high = (real)((double)*value + h);
    if (low == high) return 0;
    return (loss_at(check, value, high) - loss_at(check, value, low)) / ((double)high - (double)low);
}

double gradient_five_point(const GradientCheck *check, real *value, double h) {
    return (4 * gradient_two_point(check, value, h) - gradient_two_point(check, value, 2 * h)) / 3;
}

bool gradient_has_kink(const GradientCheck *check, real *value, double reach) {
    if (check->pattern == NULL) return false;
    double x = (double)*value;
    uint64_t pattern[3];
    for (int i = 0; i < 3; i++) {
        real before = *value;
        *value = (real)(x + (i - 1) * reach);
        pattern[i] = check->pattern(check->context);
        *value = before;
    }
    return pattern[0] != pattern[1] || pattern[1] != pattern[2];
}

/* Tries smaller and smaller steps until the two agree, and keeps the best of them. */
static void check_element(GradientResult *r, const GradientCheck *check, const GradientTensor *t, size_t i,
                          double scale) {
    double a = (double)t->analytic[i], best = 0, best_numeric = 0;
    double h = check->step * larger(magnitude((double)t->value[i]), GRADIENT_CHECK_UNIT);
    bool passed = false;
    for (int try = 0; try < TRIES && !passed; try++, h /= 10) {
        double n = gradient_five_point(check, &t->value[i], h), difference = magnitude(a - n);
        double error = difference / (larger(magnitude(a), magnitude(n)) + scale / 100);
        if (difference == 0) error = 0; /* not 0/0 */
        passed = error <= check->relative;
        if (try == 1) r->retried++;
        if (try == 0 || error < best) {
            best = error;
            best_numeric = n;
        }
    }
    double near = best <= ROUNDING * check->relative ? 200 * h : 20 * h; /* h has left the loop ten times too small */
    if (!passed && gradient_has_kink(check, &t->value[i], near)) {
        r->skipped++;
        return;
    }
    r->checked++;
    if (!passed) r->failed++;
    if (!(magnitude(a - best_numeric) <= r->absolute)) r->absolute = magnitude(a - best_numeric);
    if (r->name == NULL || !(best <= r->worst)) {
        r->worst = best;
        r->name = t->name;
        r->index = i;
        r->analytic = a;
        r->numeric = best_numeric;
    }
}

size_t gradient_check_samples(const GradientCheck *check, size_t count, size_t *block) {
    size_t size = check->every;
    if (size > count / LEAST_SAMPLES) size = count / LEAST_SAMPLES;
    if (check->most > 0 && size < (count + check->most - 1) / check->most)
        size = (count + check->most - 1) / check->most;
    *block = size < 1 ? 1 : size;
    return (count + *block - 1) / *block;
}

/* In turn an element that its place alone decides, which notices gradients that are missing, and the one with the largest
 * gradient, without which most samples of an embedding would be words that do not occur. */
static size_t sample(const GradientTensor *t, int number, size_t from, size_t end, size_t turn) {
    size_t place = from + hash_fold(hash64((uint64_t)number), from) % (end - from);
    if (turn % 2 == 0) return place;
    for (size_t i = from; i < end; i++)
        if (magnitude((double)t->analytic[i]) > magnitude((double)t->analytic[place])) place = i;
    return place;
}

static GradientResult check_tensor(const GradientCheck *check, int number, double scale) {
    const GradientTensor *t = &check->tensor[number];
    GradientResult r = {0};
    double most = largest(t);
    if (t->zero != NULL)
        r.zero_wrong = !(most <= check->relative * check->relative * scale);
    else
        r.zero_wrong = most == 0;
    size_t block, samples = gradient_check_samples(check, t->count, &block);
    for (size_t s = 0; s < samples; s++) {
        size_t from = s * block, end = from + block < t->count ? from + block : t->count;
        check_element(&r, check, t, sample(t, number, from, end, s), scale);
    }
    return r;
}

void gradient_result_add(GradientResult *sum, const GradientResult *r) {
    GradientResult before = *sum;
    if (sum->name == NULL || (r->name != NULL && !(r->worst <= sum->worst))) *sum = *r;
    sum->checked = before.checked + r->checked;
    sum->failed = before.failed + r->failed;
    sum->retried = before.retried + r->retried;
    sum->skipped = before.skipped + r->skipped;
    sum->zero_wrong = before.zero_wrong || r->zero_wrong;
    sum->absolute = r->absolute <= before.absolute ? before.absolute : r->absolute;
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
        if (check->done != NULL) check->done(check->context, t, &r);
        gradient_result_add(&sum, &r);
    }
    return sum;
}
