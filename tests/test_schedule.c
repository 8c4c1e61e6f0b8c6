/* Learning rates at points computed by hand, no jump at the end of warmup, and when a plateau lowers the rate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "training/schedule.h"

enum { SCHEDULES = CONFIG_SCHEDULE_PLATEAU + 1 };

/* Everything that a curve may depend on. */
static Config curve(ConfigSchedule schedule) {
    Config c = {.model = {.d_model = 256},
                .train = {.schedule = schedule, .lr = 0.5, .warmup = 10, .updates = 40, .plateau_factor = 0.5}};
    if (schedule == CONFIG_SCHEDULE_NOAM) c.train.lr = 2;
    if (schedule == CONFIG_SCHEDULE_COSINE || schedule == CONFIG_SCHEDULE_PLATEAU) c.train.lr_min = 0.02;
    return c;
}

static void assert_rate(double expected, const Config *c, int reductions, int64_t u) {
    double rate = schedule_lr(c, reductions, u);
    if (!(fabs(rate - expected) <= 1e-15)) fail_msg("update %d: rate %.17g, not %.17g", (int)u, rate, expected);
}

static void test_warmup(void **state) {
    (void)state;
    for (int s = 0; s < SCHEDULES; s++) {
        if (s == CONFIG_SCHEDULE_NOAM) continue;
        Config c = curve((ConfigSchedule)s);
        assert_rate(0.05, &c, 0, 1);
        assert_rate(0.45, &c, 0, 9);
        assert_rate(0.5, &c, 0, 10);
        c.train.warmup_start = 0.1;
        assert_rate(0.14, &c, 0, 1);
        assert_rate(0.3, &c, 0, 5);
        assert_rate(0.5, &c, 0, 10);
    }
    Config none = curve(CONFIG_SCHEDULE_CONSTANT);
    none.train.warmup = 0;
    assert_rate(0.5, &none, 0, 1);
}

static void test_points(void **state) {
    (void)state;
    Config c = curve(CONFIG_SCHEDULE_INVERSE_SQRT);
    assert_rate(0.25, &c, 0, 40);
    assert_rate(0.05, &c, 0, 1000);
    c = curve(CONFIG_SCHEDULE_CONSTANT);
    assert_rate(0.5, &c, 0, 1000);
    c = curve(CONFIG_SCHEDULE_LINEAR);
    assert_rate(0.5 * 30 / 31, &c, 0, 11);
    assert_rate(0.5 / 31, &c, 0, 40);
    assert_rate(0, &c, 0, 41);
    assert_rate(0, &c, 0, 99);
    c = curve(CONFIG_SCHEDULE_COSINE); /* thirds of the half wave: cos(pi/3) = 1/2 */
    assert_rate(0.02 + 0.48 * 3 / 4, &c, 0, 20);
    assert_rate(0.26, &c, 0, 25);
    assert_rate(0.02 + 0.48 / 4, &c, 0, 30);
    assert_rate(0.02, &c, 0, 40);
    assert_rate(0.02, &c, 0, 99);
    c = curve(CONFIG_SCHEDULE_NOAM); /* 256^-1/2 = 1/16, 100^-3/2 = 1/1000 */
    c.train.warmup = 100;
    assert_rate(2 / 16.0 / 1000, &c, 0, 1);
    assert_rate(2 / 16.0 / 1000 * 50, &c, 0, 50);
    assert_rate(2 / 16.0 / 10, &c, 0, 100);
    assert_rate(2 / 16.0 / 20, &c, 0, 400);
}

/* Steps next to the end of a long warmup are no larger than those within it, and the rate there is the peak. */
static void test_no_jump_after_warmup(void **state) {
    (void)state;
    const int warmup = 1000000;
    for (int s = 0; s < SCHEDULES; s++) {
        Config c = curve((ConfigSchedule)s);
        c.train.warmup = warmup;
        c.train.updates = 3 * warmup;
        double peak = s == CONFIG_SCHEDULE_NOAM ? 2 / 16.0 / 1000 : 0.5;
        assert_rate(peak, &c, 0, warmup);
        for (int u = warmup - 3; u < warmup + 3; u++)
            assert_true(fabs(schedule_lr(&c, 0, u + 1) - schedule_lr(&c, 0, u)) <= 1.001 * peak / warmup);
    }
}

static void test_plateau(void **state) {
    (void)state;
    Config c = curve(CONFIG_SCHEDULE_PLATEAU);
    c.train.plateau_patience = 3;
    assert_rate(0.05, &c, 2, 1); /* warmup is as it was */
    assert_rate(0.5, &c, 0, 1000);
    assert_rate(0.25, &c, 1, 11);
    assert_rate(0.125, &c, 2, 1000);
    assert_rate(0.02, &c, 5, 1000); /* not 0.5 / 32 */
    static const struct {
        int reductions, stalled, update;
        bool reduces;
    } cases[] = {{0, 0, 20, false}, {0, 2, 20, false}, {0, 3, 20, true}, {1, 4, 20, false}, {1, 6, 20, true},
                 {0, 3, 9, false},  {0, 3, 10, true},  {4, 9, 20, true}, {5, 9, 20, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (schedule_reduces(&c, cases[i].reductions, cases[i].stalled, cases[i].update) != cases[i].reduces)
            fail_msg("case %d", (int)i);
    c.train.schedule = CONFIG_SCHEDULE_CONSTANT;
    assert_false(schedule_reduces(&c, 0, 3, 20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_no_jump_after_warmup),
        cmocka_unit_test(test_plateau),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
