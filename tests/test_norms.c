/* Norms of gradients, weights and updates by group: which tensors are a group, and the sums against naive ones. */
#include "tests/support/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "training/metrics.h"

static void check_groups(NormPlace norm, TieEmbeddings tie, const char *const *expected, int count) {
    ModelConfig config = small_config(norm, ACTIVATION_RELU, tie);
    ParamTable table = transformer_table(&config);
    Norms n;
    norms_init(&n, &table);
    assert_int_equal(n.groups, count);
    for (int g = 0; g < count; g++) assert_string_equal(n.name[g], expected[g]);
    norms_free(&n);
    param_table_free(&table);
}

#define ENCODER "encoder.0.self_attn", "encoder.0.ffn", "encoder.1.self_attn", "encoder.1.ffn"
#define DECODER                                                                                                        \
    "decoder.0.self_attn", "decoder.0.encoder_attn", "decoder.0.ffn", "decoder.1.self_attn", "decoder.1.encoder_attn", \
        "decoder.1.ffn"

static void test_groups(void **state) {
    (void)state;
    static const char *const post_all[] = {"embeddings", ENCODER, DECODER},
                             *const pre_all[] = {"embeddings", ENCODER, "encoder.norm", DECODER, "decoder.norm"},
                             *const post_decoder[] = {"embeddings.source", "embeddings.target", ENCODER, DECODER},
                             *const pre_none[] = {"embeddings.source",
                                                  "embeddings.target",
                                                  ENCODER,
                                                  "encoder.norm",
                                                  DECODER,
                                                  "decoder.norm",
                                                  "output"};
    check_groups(NORM_POST, TIE_ALL, post_all, 11);
    check_groups(NORM_PRE, TIE_ALL, pre_all, 13);
    check_groups(NORM_POST, TIE_DECODER, post_decoder, 12);
    check_groups(NORM_PRE, TIE_NONE, pre_none, 15);
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"model.shared.weight", "embeddings"},
        {"model.encoder.layers.0.self_attn.q_proj.weight", "encoder.0.self_attn"},
        {"model.encoder.layers.0.self_attn_layer_norm.bias", "encoder.0.self_attn"},
        {"model.encoder.layers.11.fc2.bias", "encoder.11.ffn"},
        {"model.encoder.layers.11.final_layer_norm.weight", "encoder.11.ffn"},
        {"model.decoder.layers.3.encoder_attn.out_proj.weight", "decoder.3.encoder_attn"},
        {"model.decoder.layers.3.encoder_attn_layer_norm.weight", "decoder.3.encoder_attn"},
        {"model.encoder.layer_norm.weight", "encoder.norm"},
        {"model.decoder.layer_norm.bias", "decoder.norm"},
        {"lm_head.weight", "output"},
        {"model.encoder.embed_positions.weight", "model.encoder.embed_positions.weight"},
    };
    char name[NORM_GROUP_NAME];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        norm_group_name(name, names[i][0]);
        assert_string_equal(name, names[i][1]);
    }
}

typedef struct Update {
    ParamTable table;
    real *before, *after, *gradient;
} Update;

static Update random_update(void) {
    ModelConfig config = small_config(NORM_PRE, ACTIVATION_RELU, TIE_NONE);
    Update u = {.table = transformer_table(&config)};
    size_t total = u.table.total;
    u.before = memory_alloc(total, sizeof(real), "test");
    u.after = memory_alloc(total, sizeof(real), "test");
    u.gradient = memory_alloc(total, sizeof(real), "test");
    probe_random(u.before, total, 1);
    probe_random(u.after, total, 2);
    probe_random(u.gradient, total, 3);
    return u;
}

static void update_free(Update *u) {
    memory_free(u->before);
    memory_free(u->after);
    memory_free(u->gradient);
    param_table_free(&u->table);
}

/* Norms of the update, with the parameters in one place as in training. */
static Norms measure(const Update *u, bool spare, int threads) {
    size_t total = u->table.total;
    real *slab = memory_alloc(total, sizeof(real), "test"), *other = memory_alloc(total, sizeof(real), "test");
    memcpy(slab, u->before, total * sizeof(real));
    Norms n;
    norms_init(&n, &u->table);
    norms_begin(&n, slab, u->gradient, spare ? other : NULL, threads);
    memcpy(slab, u->after, total * sizeof(real));
    norms_end(&n, slab, threads);
    assert_memory_equal(slab, u->after, total * sizeof(real));
    memory_free(slab);
    memory_free(other);
    return n;
}

static void test_sums(void **state) {
    (void)state;
    Update u = random_update();
    Norms n = measure(&u, false, 2);
    for (int g = 0; g < n.groups; g++) {
        double gradient = 0, weight = 0, update = 0;
        for (int i = 0; i < u.table.count; i++) {
            char name[NORM_GROUP_NAME];
            norm_group_name(name, u.table.param[i].name);
            if (strcmp(name, n.name[g]) != 0) continue;
            size_t from = u.table.param[i].offset;
            for (size_t j = from; j < from + param_size(&u.table.param[i]); j++) {
                gradient += pow((double)u.gradient[j], 2);
                weight += pow((double)u.before[j], 2);
                update += pow((double)u.before[j] - (double)u.after[j], 2);
            }
        }
        assert_near(n.gradient[g], sqrt(gradient), 1e-6 * sqrt(gradient));
        assert_near(n.weight[g], sqrt(weight), 1e-6 * sqrt(weight));
        assert_near(n.update[g], sqrt(update), 1e-6 * sqrt(update));
    }
    for (int threads = 1; threads <= 4; threads++) { /* and memory of another's: no bit changes */
        Norms same = measure(&u, threads % 2 == 0, threads);
        assert_memory_equal(n.gradient, same.gradient, (size_t)n.groups * sizeof(double));
        assert_memory_equal(n.weight, same.weight, (size_t)n.groups * sizeof(double));
        assert_memory_equal(n.update, same.update, (size_t)n.groups * sizeof(double));
        norms_free(&same);
    }
    norms_free(&n);
    update_free(&u);
}

/* A norm that is no number, and a ratio to weights of zero, are null. */
static void test_line(void **state) {
    (void)state;
    Update u = random_update();
    Norms n = measure(&u, false, 1);
    Error error;
    n.groups = 2;
    n.gradient[0] = 0.5, n.weight[0] = 2, n.update[0] = 0.25;
    n.gradient[1] = (double)NAN, n.weight[1] = 0, n.update[1] = 1;
    scratch_create();
    Metrics metrics;
    metrics_open(&metrics, scratch_path("m"));
    assert_true(metrics_append_norms(&metrics, 300, 2, &n, &error));
    metrics_close(&metrics);
    size_t size;
    char *text = scratch_read(scratch_path("m"), &size);
    assert_string_equal(text, "{\"kind\":\"norms\",\"update\":300,\"epoch\":2,\"groups\":["
                              "{\"name\":\"embeddings.source\",\"gradient\":0.5,\"weight\":2,\"ratio\":0.125},"
                              "{\"name\":\"embeddings.target\",\"gradient\":null,\"weight\":0,\"ratio\":null}]}\n");
    free(text);
    scratch_remove();
    norms_free(&n);
    update_free(&u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
