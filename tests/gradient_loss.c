/* Gradients of output layer and loss (study/modules_loss.c), with and without smoothing, in one and in several chunks of
 * rows; and the sums that come with them. */
#include "tests/support/probe.h"

#include "model/loss.h"
#include "model/matmul.h"

/* All rows are counted, and without smoothing the objective is the negative log-likelihood. */
static void test_sums(void **state) {
    (void)state;
    enum { N = 9, D = 5, V = 11 };
    static const int targets[N] = {4, 0, 10, 4, 7, 2, 10, 1, 9};
    real h[N * D], W[V * D];
    probe_random(h, N * D, 1);
    probe_random(W, V * D, 2);
    Linear output = {.in = D, .out = V, .W = W};
    Arena arena;
    arena_init(&arena, "test");
    for (int chunk = 2; chunk <= N; chunk++) {
        LossActs a = loss_acts(chunk, V, &arena);
        LossSums sums = {0};
        for (int n = 0; n < N; n += chunk)
            loss_forward(&sums, NULL, &a, h + n * D, targets + n, &output, 0, N - n < chunk ? N - n : chunk);
        assert_int_equal(sums.tokens, N);
        assert_near(sums.nll, sums.objective, 1e-14);
    }
    arena_free(&arena);
}

static void test_loss(void **state) {
    (void)state;
    assert_module("loss");
}

static void test_rdrop(void **state) {
    (void)state;
    assert_module("rdrop");
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_rdrop),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
