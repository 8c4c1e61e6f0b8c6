/* ./inspect's figures and its JSON, on a small model with a real tokenizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "decoding/translator.h"
#include "study/inspection_json.h"

static const char TEXT[] =
    "the old cow sleeps near the house\nthe cow is tired\nan old house\nthe house is near the cow\n";

/* A run as it would be loaded: pre-norm, two heads, d_k unlike d_v. */
static void run_init(LoadedRun *run) {
    Error error;
    Lines lines;
    TokenizerOptions o = tokenizer_default_options();
    *run = (LoadedRun){0};
    lines_split(&lines, memory_text(TEXT, sizeof TEXT - 1), sizeof TEXT - 1);
    o.vocab_size = 300;
    run->source = run->target = tokenizer_learn(&(const Lines *){&lines}, 1, &o, &error);
    lines_free(&lines);
    int V = tokenizer_vocab_size(run->source);
    ModelConfig c = {.source_vocab = V,
                     .target_vocab = V,
                     .encoder_width = 12,
                     .decoder_width = 12,
                     .encoder_layers = 1,
                     .decoder_layers = 2,
                     .heads = 2,
                     .d_k = 6,
                     .d_v = 5,
                     .ffn_dim = 16,
                     .norm = NORM_PRE,
                     .activation = ACTIVATION_RELU,
                     .tie = TIE_ALL,
                     .qkv_gain = 1};
    run->table = transformer_table(&c);
    run->slab = memory_alloc(run->table.total, sizeof(real), "weights");
    param_init(run->slab, &run->table, 1);
    transformer_init(&run->model, &c, run->slab);
    transformer_positions_init(&run->positions, &c);
    run->config.decode.max_length_factor = 1;
    run->config.decode.max_length_extra = 3;
}

static json_t *json_of(const LoadedRun *run, const char *source, const char *target) {
    Error error;
    Inspection in;
    json_error_t json_error;
    assert_true(inspection_make(&in, run, source, target, &error));
    char *text = inspection_json(&in, "runs/\xFF\"test");
    json_t *json = json_loads(text, 0, &json_error);
    assert_non_null(json);
    memory_free(text);
    inspection_free(&in);
    return json;
}

static double at(const json_t *list, size_t i) { return json_number_value(json_array_get(list, i)); }

static void check_map(const json_t *map, size_t queries, size_t keys, bool causal) {
    assert_int_equal(json_array_size(map), queries);
    for (size_t i = 0; i < queries; i++) {
        const json_t *row = json_array_get(map, i);
        double sum = 0;
        assert_int_equal(json_array_size(row), keys);
        for (size_t j = 0; j < keys; j++) {
            assert_true(causal && j > i ? at(row, j) == 0 : at(row, j) >= 0);
            sum += at(row, j);
        }
        assert_true(fabs(sum - 1) <= 0.5e-5 * (double)keys + 1e-6);
    }
}

static void check_json(const json_t *json) {
    static const char *const kinds[] = {"encoder_self", "decoder_self", "cross"};
    size_t S = json_array_size(json_object_get(json_object_get(json, "source"), "pieces"));
    size_t T = json_array_size(json_object_get(json_object_get(json, "target"), "pieces"));
    const size_t queries[] = {S, T, T}, keys[] = {S, T, S};
    for (int kind = 0; kind < 3; kind++) {
        const json_t *layers = json_object_get(json_object_get(json, "attention"), kinds[kind]);
        assert_int_equal(json_array_size(layers), kind == 0 ? 1 : 2);
        for (size_t l = 0; l < json_array_size(layers); l++)
            for (size_t h = 0; h < 2; h++)
                check_map(json_array_get(json_array_get(layers, l), h), queries[kind], keys[kind], kind == 1);
    }
    assert_string_equal(json_string_value(json_object_get(json, "run")),
                        "runs/\xEF\xBF\xBD\"test"); /* U+FFFD, as in a report */
    double log_p = 0;
    const json_t *steps = json_object_get(json, "steps");
    assert_int_equal(json_array_size(steps), T);
    for (size_t t = 0; t < T; t++) {
        const json_t *step = json_array_get(steps, t), *best = json_object_get(step, "best");
        size_t rank = (size_t)json_integer_value(json_object_get(step, "rank"));
        double p = json_number_value(json_object_get(step, "log_p"));
        assert_int_equal(json_array_size(best), INSPECTION_BEST);
        for (size_t i = 1; i < INSPECTION_BEST; i++)
            assert_true(at(json_array_get(best, i - 1), 1) >= at(json_array_get(best, i), 1));
        if (rank <= INSPECTION_BEST) assert_true(fabs(at(json_array_get(best, rank - 1), 1) - exp(p)) < 1e-6);
        log_p += p;
    }
    assert_true(fabs(log_p - json_number_value(json_object_get(json, "log_p"))) < 1e-4);
    assert_int_equal(json_array_size(json_object_get(json, "saliency")), T);
}

static void test_json(void **state) {
    (void)state;
    static const char *const odd[] = {"the cow </script><b>", "\xF0\x9F\x90\x84 \"quoted\" \\ \t", "\xFF\xC3( old",
                                      "x"};
    LoadedRun run;
    run_init(&run);
    for (int i = 0; i < 4; i++) {
        json_t *json = json_of(&run, odd[i], i == 0 ? NULL : odd[3 - i]);
        check_json(json);
        json_decref(json);
    }
    json_t *json = json_of(&run, "the old cow", "");
    check_json(json);
    assert_int_equal(json_array_size(json_object_get(json, "steps")), 1);
    json_decref(json);
    loaded_run_close(&run);
}

/* The decoder's own scoring, which has other loops, gives the same log-probabilities; and greedy is its choice. */
static void test_scores(void **state) {
    (void)state;
    LoadedRun run;
    Inspection in;
    Error error;
    Arena arena;
    Translator t;
    run_init(&run);
    assert_true(inspection_make(&in, &run, "the old cow sleeps", NULL, &error));
    arena_init(&arena, "test");
    translator_init(&t, &run.model, &run.positions, run.source, run.target, &run.config.decode, 1, &arena);
    t.beam.beam_size = 1;
    t.keep = t.beam.scores = t.beam.token_log_p = true;
    Translation out = {0};
    translator_translate(&out, &t, &(Line){"the old cow sleeps", 18}, 1);
    const Hypothesis *h = &out.hypothesis[0];
    assert_true(h->count > 3);
    assert_int_equal(h->count + 1, packed_rows(&in.batch.target));
    assert_memory_equal(h->ids, in.batch.target_out, (size_t)h->count * sizeof(int));
    for (int i = 0; i <= h->count; i++) assert_true(fabs(h->token_log_p[i] - in.step[i].log_p) < 1e-4);
    assert_true(fabs(h->log_p - inspection_log_p(&in)) < 1e-3);
    assert_true(fabs(in.trace.loss.nll + inspection_log_p(&in)) < 1e-3);
    translations_free(&out, 1, 1);
    translator_free(&t);
    arena_free(&arena);
    inspection_free(&in);
    loaded_run_close(&run);
}

static void refuse(const LoadedRun *run, const char *source, const char *target, const char *says) {
    Inspection in;
    Error error = {""};
    assert_false(inspection_make(&in, run, source, target, &error));
    if (strstr(error.text, says) == NULL) print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, says));
}

static void test_limits(void **state) {
    (void)state;
    LoadedRun run;
    Inspection in;
    Error error;
    char text[600];
    run_init(&run);
    refuse(&run, "", NULL, "--source is blank");
    refuse(&run, " \t", "x", "--source is blank");
    refuse(&run, "a\nb", NULL, "--source holds a line end");
    refuse(&run, "a", "b\n", "--target holds a line end");
    memset(text, '%', sizeof text); /* a token a character, and one for the space in front */
    text[500] = '\0';
    refuse(&run, text, NULL, "--source has 502 tokens with </s>; inspect shows at most 128 a side");
    text[127] = '\0';
    refuse(&run, "x", text, "--target has 129 tokens");
    text[126] = '\0';
    assert_true(inspection_make(&in, &run, text, text, &error));
    assert_int_equal(trace_find(&in.trace, "decoder.0.encoder_attn.weights")->rows, 2 * 128);
    inspection_free(&in);
    loaded_run_close(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
