/* Gradients of the feed-forward network and of whole encoder and decoder layers (study/modules_layers.c). */
#include "tests/support/probe.h"

#include "model/matmul.h"

static void test_feedforward(void **state) {
    (void)state;
    assert_module("feed-forward");
}

static void test_encoder_layer(void **state) {
    (void)state;
    assert_module("encoder-layer");
}

static void test_decoder_layer(void **state) {
    (void)state;
    assert_module("decoder-layer");
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feedforward),
        cmocka_unit_test(test_encoder_layer),
        cmocka_unit_test(test_decoder_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
