/* Gradients of the elementary modules (study/modules_elementary.c), each alone, every element. */
#include "tests/support/probe.h"

#include "model/matmul.h"
#include "model/softmax.h"

/* Over one or no entry softmax is constant: there is nothing to compare with but zero. */
static void check_constant_softmax(int visible) {
    real x[16], y[16], dx[16], dy[16];
    probe_random(x, 16, 1);
    probe_random(dy, 16, 2);
    softmax_forward(y, x, visible, 16, 1);
    softmax_backward(dx, dy, y, 16, 1);
    for (int j = 0; j < 16; j++) {
        assert_true(y[j] == (j < visible ? 1 : 0));
        assert_true(dx[j] == 0);
    }
}

static void test_constant_softmax(void **state) {
    (void)state;
    check_constant_softmax(1);
    check_constant_softmax(0);
}

static void test_linear(void **state) {
    (void)state;
    assert_module("linear");
}

static void test_layer_norm(void **state) {
    (void)state;
    assert_module("layer-norm");
}

static void test_activation(void **state) {
    (void)state;
    assert_module("relu");
    assert_module("gelu");
}

static void test_softmax(void **state) {
    (void)state;
    assert_module("softmax");
}

static void test_embedding(void **state) {
    (void)state;
    assert_module("embedding");
}

static void test_dropout(void **state) {
    (void)state;
    assert_module("dropout");
}

static void test_residual(void **state) {
    (void)state;
    assert_module("residual");
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),   cmocka_unit_test(test_layer_norm),       cmocka_unit_test(test_activation),
        cmocka_unit_test(test_softmax),  cmocka_unit_test(test_embedding),        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_residual), cmocka_unit_test(test_constant_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
