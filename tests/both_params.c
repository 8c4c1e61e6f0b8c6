/* The parameter table and the initial values. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/memory.h"
#include "tests/support/small_model.h"

/* sum of p_i cos(i) of the wide model below, seed 1. */
static const double SUM_OF_SEED_1 = 37.078466918014193;

typedef struct Moments {
    double mean, deviation, largest;
} Moments;

static Moments moments(const real *x, size_t n) {
    Moments m = {0};
    for (size_t i = 0; i < n; i++) {
        m.mean += (double)x[i] / (double)n;
        m.largest = fabs((double)x[i]) > m.largest ? fabs((double)x[i]) : m.largest;
    }
    for (size_t i = 0; i < n; i++) m.deviation += pow((double)x[i] - m.mean, 2) / (double)n;
    m.deviation = sqrt(m.deviation);
    return m;
}

/* Large enough that an estimate of a deviation is good to a few percent. */
static ModelConfig wide_config(void) {
    ModelConfig c = small_config(NORM_PRE, ACTIVATION_RELU, TIE_NONE);
    c.source_vocab = 300;
    c.encoder_width = 48;
    c.decoder_width = 64;
    c.d_k = 24;
    c.d_v = 32;
    c.ffn_dim = 80;
    c.qkv_gain = 0.5;
    return c;
}

static void check_initial_values(const Param *p, const real *value) {
    Moments m = moments(value, param_size(p));
    double count = (double)param_size(p), gain = p->role == PARAM_QKV_MATRIX ? 0.5 : 1;
    double bound = gain * sqrt(6.0 / (p->rows + p->cols)), deviation = bound / sqrt(3.0);
    switch (p->role) {
    case PARAM_MATRIX:
    case PARAM_QKV_MATRIX:
        assert_below(m.largest, bound * (1 + 1e-6));
        assert_below(0.98 * bound, m.largest);
        break;
    case PARAM_EMBEDDING:
        deviation = 1 / sqrt((double)p->cols);
        assert_below(m.largest, 6 * deviation);
        assert_below(2.5 * deviation, m.largest);
        break;
    case PARAM_NORM_WEIGHT:
        for (size_t i = 0; i < param_size(p); i++) assert_true(value[i] == 1);
        return;
    case PARAM_BIAS:
    case PARAM_NORM_BIAS:
        for (size_t i = 0; i < param_size(p); i++) assert_true(value[i] == 0);
        return;
    }
    assert_below(fabs(m.mean), 5 * deviation / sqrt(count));
    assert_near(m.deviation, deviation, 5 / sqrt(count));
}

static void test_initial_values(void **state) {
    (void)state;
    ModelConfig config = wide_config();
    ParamTable table = transformer_table(&config);
    real *first = memory_alloc(table.total, sizeof(real), "test"),
         *second = memory_alloc(table.total, sizeof(real), "test");
    param_init(first, &table, 1);
    for (int i = 0; i < table.count; i++) check_initial_values(&table.param[i], first + table.param[i].offset);

    param_init(second, &table, 1);
    assert_memory_equal(first, second, table.total * sizeof(real));
    double sum = 0; /* the same numbers in float and double */
    for (size_t i = 0; i < table.total; i++) sum += (double)first[i] * cos((double)i);
    assert_near(sum, SUM_OF_SEED_1, REAL_IS_DOUBLE ? 1e-10 : 1e-5);

    /* Neither another seed nor another tensor of the same shape draws the same numbers. */
    param_init(second, &table, 2);
    const Param *q = &table.param[param_find(&table, "model.encoder.layers.0.self_attn.q_proj.weight")];
    const Param *k = &table.param[param_find(&table, "model.encoder.layers.0.self_attn.k_proj.weight")];
    double same = 0;
    for (size_t i = 0; i < param_size(q); i++)
        same += first[q->offset + i] == second[q->offset + i] || first[q->offset + i] == first[k->offset + i];
    assert_true(same < 3);
    memory_free(first);
    memory_free(second);
    param_table_free(&table);
}

/* Tensors lie one behind the other without gap or overlap, and every name is there once. */
static void test_table_covers_the_slab(void **state) {
    (void)state;
    for (int tie = 0; tie < 3; tie++) {
        ModelConfig config = small_config(NORM_POST, ACTIVATION_RELU, (TieEmbeddings)tie);
        ParamTable table = transformer_table(&config);
        size_t used = 0;
        for (int i = 0; i < table.count; i++) {
            assert_int_equal(table.param[i].offset, used);
            assert_int_equal(param_find(&table, table.param[i].name), i);
            used += param_size(&table.param[i]);
        }
        assert_int_equal(used, table.total);
        param_table_free(&table);
    }
}

static void test_ties(void **state) {
    (void)state;
    const char *const source = "model.encoder.embed_tokens.weight", *const target = "model.decoder.embed_tokens.weight",
                      *const output = "lm_head.weight";
    for (int tie = 0; tie < 3; tie++) {
        ModelConfig config = small_config(NORM_POST, ACTIVATION_RELU, (TieEmbeddings)tie);
        SmallModel m;
        small_model_init(&m, &config, 1);
        bool all = tie == TIE_ALL, decoder = tie != TIE_NONE;
        assert_true((m.p.encoder.embedding.E == m.p.decoder.embedding.E) == all);
        assert_true((m.p.output.W == m.p.decoder.embedding.E) == decoder);
        int s = param_find(&m.table, source), t = param_find(&m.table, target), o = param_find(&m.table, output);
        assert_true(s >= 0 && t >= 0 && o >= 0);
        assert_true((s == t) == all && (o == t) == decoder);
        assert_true((param_find(&m.table, "model.shared.weight") >= 0) == all);
        assert_true(m.parameters + m.table.param[o].offset == m.p.output.W);
        small_model_free(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial_values),
        cmocka_unit_test(test_table_covers_the_slab),
        cmocka_unit_test(test_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
