/* config.json says what the configuration says, in the words of Marian and Pegasus. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/memory.h"
#include "run/run_directory.h"
#include "tests/support/scratch.h"

static json_t *describe(const RunDirectory *run, const char *more) {
    char text[1024];
    Config config;
    Error error;
    snprintf(text, sizeof text,
             "[data]\ntrain_source=s\ntrain_target=t\n[output]\ndir=r\n[train]\nepochs=1\n[model]\n%s", more);
    if (!config_parse(&config, "c.ini", text, strlen(text), NULL, 0, &error)) fail_msg("%s", error.text);
    assert_true(run_directory_describe(run, &config, 300, 400, &error));
    config_free(&config);
    char *path = run_path(run->path, RUN_DESCRIPTION);
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    memory_free(path);
    assert_non_null(json);
    return json;
}

static int int_of(const json_t *json, const char *key) {
    assert_true(json_is_integer(json_object_get(json, key)));
    return (int)json_integer_value(json_object_get(json, key));
}

static void test_describe(void **state) {
    (void)state;
    RunDirectory run;
    Error error;
    scratch_create();
    assert_true(run_directory_open(&run, scratch_path("run"), false, &error));
    json_t *json = describe(&run, "dropout = 0.3\n");
    assert_string_equal(json_string_value(json_object_get(json, "model_type")), "marian");
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "architectures"), 0)), "MarianMTModel");
    assert_int_equal(int_of(json, "vocab_size"), 300);
    assert_int_equal(int_of(json, "decoder_vocab_size"), 400);
    assert_int_equal(int_of(json, "d_model"), 256);
    assert_int_equal(int_of(json, "decoder_start_token_id"), 0);
    assert_int_equal(int_of(json, "pad_token_id"), 1);
    assert_int_equal(int_of(json, "eos_token_id"), 2);
    assert_int_equal(int_of(json, "max_position_embeddings"), 1024);
    assert_true(json_real_value(json_object_get(json, "dropout")) == 0.3);
    assert_true(json_is_true(json_object_get(json, "share_encoder_decoder_embeddings")));
    assert_null(json_object_get(json, "tandem"));
    json_decref(json);
    json = describe(&run, "norm = pre\nencoder_d_model = 64\nd_k = 3\nd_v = 5\ntie_embeddings = none\n");
    assert_string_equal(json_string_value(json_object_get(json, "model_type")), "pegasus");
    assert_true(json_is_false(json_object_get(json, "tie_word_embeddings")));
    const json_t *ours = json_object_get(json, "tandem");
    assert_int_equal(int_of(ours, "encoder_d_model"), 64);
    assert_int_equal(int_of(ours, "decoder_d_model"), 256);
    assert_int_equal(int_of(ours, "d_k"), 3);
    assert_int_equal(int_of(ours, "d_v"), 5);
    json_decref(json);
    static const char *const unusual[] = {"d_v = 5\n", "d_k = 5\n",
                                          "decoder_d_model = 64\nd_k = 16\nd_v = 16\ntie_embeddings = none\n"};
    for (int i = 0; i < 3; i++) { /* each alone is a reason */
        json = describe(&run, unusual[i]);
        assert_non_null(json_object_get(json, "tandem"));
        json_decref(json);
    }
    run_directory_close(&run);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_describe)};
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
