/* Gradients of attention in its uses (study/modules_attention.c): the core on ready q, k, v, and with its projections. */
#include "tests/support/probe.h"

#include "model/matmul.h"

static void test_core(void **state) {
    (void)state;
    assert_module("attention-core");
    assert_module("masked-attention-core");
    assert_module("cross-attention-core");
}

static void test_self_attention(void **state) {
    (void)state;
    assert_module("self-attention");
    assert_module("masked-self-attention");
}

static void test_cross_attention(void **state) {
    (void)state;
    assert_module("cross-attention");
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_self_attention),
        cmocka_unit_test(test_cross_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
