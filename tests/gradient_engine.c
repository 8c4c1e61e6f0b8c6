/* The gradient check itself: right gradients pass, and each way of being wrong is noticed. */
#include "tests/support/probe.h"

#include <string.h>

#include "study/gradient_check.h"

enum { SIZE = 6, DEAD = 2 };

/* L = sum_i i x_i^3 + max(0, x_0 - kink) + level, which does not depend on the values of `dead`. */
typedef struct Case {
    real x[SIZE], dx[SIZE], dead[DEAD], ddead[DEAD];
    double kink, level;
    uint64_t (*pattern)(void *context);
} Case;

static double loss(void *context) {
    const Case *c = context;
    double sum = (double)c->x[0] > c->kink ? (double)c->x[0] - c->kink : 0;
    sum += c->level;
    for (int i = 0; i < SIZE; i++) sum += i * pow((double)c->x[i], 3);
    return sum;
}

static Case right(void) {
    Case c = {.x = {1, -2, (real)0.5, 3, -1, 2}, .dead = {4, 5}, .kink = -10};
    for (int i = 0; i < SIZE; i++) c.dx[i] = 3 * i * c.x[i] * c.x[i];
    c.dx[0] += 1;
    return c;
}

static GradientResult check(Case *c, size_t every, GradientResult each[2]) {
    const GradientTensor tensor[] = {
        {.name = "x", .value = c->x, .analytic = c->dx, .count = SIZE},
        {.name = "dead", .value = c->dead, .analytic = c->ddead, .count = DEAD, .zero = "not read"}};
    GradientCheck g = {.loss = loss,
                       .pattern = c->pattern,
                       .context = c,
                       .tensor = tensor,
                       .tensors = 2,
                       .every = every,
                       .step = GRADIENT_CHECK_STEP,
                       .relative = GRADIENT_CHECK_RELATIVE};
    return gradient_check(&g, each);
}

static void test_right_gradient_passes(void **state) {
    (void)state;
    Case c = right(), before = c;
    GradientResult each[2], r = check(&c, 1, each);
    assert_true(gradient_check_passed(&r));
    assert_int_equal(r.checked, SIZE + DEAD);
    assert_int_equal(each[0].checked, SIZE);
    assert_int_equal(r.retried, 0);
    assert_below(r.worst, 1e-9);
    assert_memory_equal(&c, &before, sizeof c); /* all values are put back */
}

static void test_wrong_gradient_fails(void **state) {
    (void)state;
    for (int i = 0; i < SIZE; i++) {
        const real wrong[] = {-right().dx[i], right().dx[i] * (real)1.0001, 0, (real)NAN, (real)INFINITY};
        for (int w = 0; w < 5; w++) {
            Case c = right();
            c.dx[i] = wrong[w];
            GradientResult each[2], r = check(&c, 1, each);
            assert_false(gradient_check_passed(&r));
            assert_false(gradient_check_passed(&each[0]));
            if (w < 3) assert_int_equal(r.failed, 1);
            if (w < 3) assert_int_equal(r.index, i);
            if (w < 3) assert_string_equal(r.name, "x");
        }
    }
}

static void test_zero_by_theory(void **state) {
    (void)state;
    Case c = right();
    c.ddead[1] = (real)1e-9; /* too small for the criterion of elements, too large for roundoff */
    GradientResult r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 0);
    assert_false(gradient_check_passed(&r));

    c = right(); /* a flat loss, and all zero where theory does not ask for it */
    memset(c.x, 0, sizeof c.x);
    memset(c.dx, 0, sizeof c.dx);
    c.kink = 1;
    r = check(&c, 1, NULL);
    assert_true(r.zero_wrong);
    assert_false(gradient_check_passed(&r));
}

/* A kink between x and x + 2h spoils the first estimate; with a smaller step it lies outside. */
static void test_kink_is_tried_again(void **state) {
    (void)state;
    Case c = right();
    c.kink = 1 + 1.5 * GRADIENT_CHECK_STEP;
    c.dx[0] = 0;
    GradientResult r = check(&c, 1, NULL);
    assert_true(gradient_check_passed(&r));
    assert_int_equal(r.retried, 1);
    c.dx[0] = 1; /* smaller steps do not make a wrong one right */
    r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 1);
}

static uint64_t side_of_kink(void *context) {
    const Case *c = context;
    return (double)c->x[0] > c->kink;
}

/* So near to the kink that no step is small enough: a failure, unless the pattern proves it; which it must not do elsewhere. */
static void test_kink_is_skipped(void **state) {
    (void)state;
    Case c = right();
    c.kink = (double)c.x[0] - 1e-7;
    GradientResult r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.skipped, 0);
    c.pattern = side_of_kink;
    r = check(&c, 1, NULL);
    assert_true(gradient_check_passed(&r));
    assert_int_equal(r.skipped, 1);
    assert_int_equal(r.checked, SIZE + DEAD - 1);
    c.dx[1] += 1;
    r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 1);
    assert_string_equal(r.name, "x");
    assert_near(r.absolute, 1, 1e-6);
    c = right();
    c.pattern = side_of_kink;
    c.dx[0] += 1;
    r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.skipped, 0);
}

/* A kink that leaves only the smallest step, and a loss so large that rounding shows there: the right gradient is no failure,
 * one that is wrong by more is. */
static void test_rounding_beside_a_kink(void **state) {
    (void)state;
    Case c = right();
    c.kink = 1 - 0.15 * GRADIENT_CHECK_STEP;
    c.level = 3e5;
    GradientResult r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 1); /* nothing proves that there is a kink */
    c.pattern = side_of_kink;
    r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.skipped, 1);
    c.dx[0] = (real)1.0001;
    r = check(&c, 1, NULL);
    assert_int_equal(r.failed, 1);
}

/* Every second sample is where the gradient is, so that one nonzero row of a large embedding is looked at. */
static void test_samples_find_gradients(void **state) {
    (void)state;
    enum { ROW = 50, LARGE = 4000 };
    static real x[LARGE], dx[LARGE];
    Case c = right();
    const GradientTensor tensor = {.name = "x", .value = x, .analytic = dx, .count = LARGE};
    GradientCheck g = {.loss = loss,
                       .context = &c,
                       .tensor = &tensor,
                       .tensors = 1,
                       .every = 1,
                       .most = 8,
                       .step = GRADIENT_CHECK_STEP,
                       .relative = GRADIENT_CHECK_RELATIVE};
    size_t block;
    assert_int_equal(gradient_check_samples(&g, LARGE, &block), 8);
    assert_int_equal(gradient_check_samples(&g, 8, &block), 8);
    assert_int_equal(gradient_check_samples(&g, 9, &block), 5);
    dx[500 + ROW] = 1; /* the loss does not depend on x: wrong */
    GradientResult r = gradient_check(&g, NULL);
    assert_int_equal(r.checked, 8);
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.index, 500 + ROW);
}

static void test_samples(void **state) {
    (void)state;
    Case c = right();
    GradientResult each[2];
    check(&c, 100, each);
    assert_in_range(each[0].checked, 4, SIZE);
    assert_int_equal(each[1].checked, DEAD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_gradient_passes),  cmocka_unit_test(test_wrong_gradient_fails),
        cmocka_unit_test(test_zero_by_theory),         cmocka_unit_test(test_kink_is_tried_again),
        cmocka_unit_test(test_kink_is_skipped),        cmocka_unit_test(test_rounding_beside_a_kink),
        cmocka_unit_test(test_samples_find_gradients), cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
