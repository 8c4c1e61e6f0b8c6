/* Numbers below the least normal one are 0 to every thread that starts later, once that was asked for. */
#include "tests/support/probe.h"

#include <float.h>

#include "base/cpu.h"

static int threads_with_denormals(void) {
    int count = 0;
    const volatile real least = REAL_IS_DOUBLE ? (real)DBL_MIN : (real)FLT_MIN;
#pragma omp parallel num_threads(3) reduction(+ : count)
    {
        volatile real half = least / 2; /* a result, then an operand */
        count += half * 2 > 0;
    }
    return count;
}

static void test_flush_denormals(void **state) {
    (void)state;
#if defined(__SSE__) || defined(__aarch64__)
    const volatile real least = REAL_IS_DOUBLE ? (real)DBL_MIN : (real)FLT_MIN;
    volatile real denormal = least / 2;
    assert_true(denormal > 0);
    cpu_flush_denormals();
    assert_true(least > 0);
    assert_false(least / 2 > 0);
    assert_false(denormal > 0);
    assert_int_equal(threads_with_denormals(), 0);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flush_denormals)};
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
