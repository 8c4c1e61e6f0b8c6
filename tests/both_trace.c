/* What ./inspect sees of a pass: that looking on changes nothing, that every value is what its name says. */
#include "tests/support/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "study/trace.h"
#include "study/trace_names.h"
#include "tests/support/small_model.h"

static const double TIGHT = REAL_IS_DOUBLE ? 1e-11 : 2e-5;

typedef struct Fixture {
    ModelConfig config;
    SmallModel m;
    Batch batch;
    Trace trace;
    int S, T;
} Fixture;

static void fixture_init(Fixture *f, NormPlace norm, TieEmbeddings tie, int S, int T) {
    f->config = small_config(norm, norm == NORM_PRE ? ACTIVATION_RELU : ACTIVATION_GELU, tie);
    f->S = S;
    f->T = T;
    small_model_init(&f->m, &f->config, 2);
    small_model_stir(&f->m, 3);
    f->batch = small_batch(&f->config, 1, &S, &T, 4);
    trace_run(&f->trace, &f->m.dp, &f->batch, &f->m.p, &f->m.positions);
}

static void fixture_free(Fixture *f) {
    trace_free(&f->trace);
    small_batch_free(&f->batch);
    small_model_free(&f->m);
}

/* Square, rectangular and single-token maps, both places of the norm. */
static void for_each_model(void (*check)(Fixture *f)) {
    static const int lengths[][2] = {{5, 4}, {3, 7}, {1, 1}};
    for (int norm = NORM_POST; norm <= NORM_PRE; norm++)
        for (int i = 0; i < 3; i++) {
            Fixture f;
            fixture_init(&f, (NormPlace)norm, i == 1 ? TIE_ALL : TIE_NONE, lengths[i][0], lengths[i][1]);
            check(&f);
            fixture_free(&f);
        }
}

static const TraceTensor *tensor(const Fixture *f, const char *format, int layer, const char *rest) {
    char name[96];
    snprintf(name, sizeof name, format, layer, rest);
    const TraceTensor *t = trace_find(&f->trace, name);
    if (t == NULL) print_message("no tensor %s\n", name);
    assert_non_null(t);
    return t;
}

static void assert_close(double a, double b, double scale) {
    if (!(fabs(a - b) <= TIGHT * (scale + fabs(a) + fabs(b)))) print_message("%.12g is not %.12g\n", a, b);
    assert_true(fabs(a - b) <= TIGHT * (scale + fabs(a) + fabs(b)));
}

/* The loss and all parameters' gradients have the bits that they have when nobody looks on. */
static void check_nothing_changes(Fixture *f) {
    real *seen = memory_alloc(f->m.table.total, sizeof *seen, "gradients");
    memcpy(seen, f->m.gradients, f->m.table.total * sizeof *seen);
    memset(f->m.gradients, 0, f->m.table.total * sizeof *seen);
    LossSums sums = transformer_gradient(&f->m.dp, &f->batch, &f->m.p, &f->m.positions, 0, 1, NULL, &f->m.arena);
    assert_memory_equal(seen, f->m.gradients, f->m.table.total * sizeof *seen);
    assert_true(sums.nll == f->trace.loss.nll && sums.tokens == f->T);
    memory_free(seen);
}

static void test_nothing_changes(void **state) {
    (void)state;
    for_each_model(check_nothing_changes);
}

/* Every name once, every step with a formula, and a forward tensor for every gradient. */
static void check_names(Fixture *f) {
    for (int i = 0; i < f->trace.count; i++) {
        const TraceTensor *t = &f->trace.tensor[i];
        char forward[96];
        snprintf(forward, sizeof forward, "%s", t->name);
        if (t->formula[0] == '\0') print_message("no formula: %s\n", t->name);
        assert_true(t->formula[0] != '\0');
        assert_ptr_equal(trace_find(&f->trace, t->name), t);
        char *end = strstr(forward, ".grad");
        if (end == NULL) continue;
        *end = '\0';
        bool is_share = strstr(t->name, ".memory.grad") != NULL || strstr(t->name, "logits") != NULL;
        const TraceTensor *of = is_share ? t : trace_find(&f->trace, forward);
        if (of == NULL) print_message("gradient of nothing: %s\n", t->name);
        assert_true(of != NULL && of->rows == t->rows && of->cols == t->cols);
    }
    int sublayers = f->config.norm == NORM_PRE ? 2 : 0; /* as many norms on the way out */
    assert_true(f->trace.count > 2 * 17 + 2 * 25 + sublayers);
}

static void test_names(void **state) {
    (void)state;
    for_each_model(check_names);
}

static void check_attention(Fixture *f) {
    static const char *const kinds[] = {"encoder.%d.self_attn%s", "decoder.%d.self_attn%s",
                                        "decoder.%d.encoder_attn%s"};
    const int queries[] = {f->S, f->T, f->T}, keys[] = {f->S, f->T, f->S};
    for (int kind = 0; kind < 3; kind++)
        for (int l = 0; l < 2; l++) {
            const TraceTensor *A = tensor(f, kinds[kind], l, ".weights");
            assert_int_equal(A->rows, f->config.heads * queries[kind]);
            assert_int_equal(A->cols, keys[kind]);
            for (int i = 0; i < A->rows; i++) {
                double sum = 0;
                for (int j = 0; j < A->cols; j++) {
                    double a = (double)A->values[i * A->cols + j];
                    bool hidden = kind == 1 && j > i % f->T;
                    assert_true(hidden ? a == 0 : a > 0 && a <= 1 + TIGHT);
                    sum += a;
                }
                assert_close(sum, 1, 1);
            }
        }
}

static void test_attention_rows_sum_to_one(void **state) {
    (void)state;
    for_each_model(check_attention);
}

/* A layer's bias is added to each row of its output, so its gradient is the sum of the rows of the output's gradient: columns
 * from .. of the traced one. Parameters' gradients are proved elsewhere (gradient_model.c). */
static void check_bias(const Fixture *f, const char *param, const TraceTensor *d, int from) {
    int place = param_find(&f->m.table, param);
    assert_true(place >= 0);
    const Param *p = &f->m.table.param[place];
    assert_true(from + p->cols <= d->cols);
    for (int c = 0; c < p->cols; c++) {
        double sum = 0, size = 0;
        for (int n = 0; n < d->rows; n++) {
            sum += (double)d->values[n * d->cols + from + c];
            size += fabs((double)d->values[n * d->cols + from + c]);
        }
        assert_close(sum, (double)f->m.gradients[p->offset + (size_t)c], size + 1e-3);
    }
}

static void check_layer_gradients(const Fixture *f, const char *side, int l, const char *sublayer, const char *norm) {
    char trace[64], param[128];
#define GRADIENT(rest) \
    (snprintf(trace, sizeof trace, "%s.%%d.%s.%s%%s", side, sublayer, rest), tensor(f, trace, l, ".grad"))
#define PARAM(name) (snprintf(param, sizeof param, "model.%s.layers.%d.%s", side, l, name), param)
    int HK = f->config.heads * f->config.d_k;
    if (strcmp(sublayer, "ffn") == 0) {
        check_bias(f, PARAM("fc2.bias"), GRADIENT("output"), 0);
        check_bias(f, PARAM("fc1.bias"), GRADIENT("hidden"), 0);
    } else {
        bool cross = strcmp(sublayer, "encoder_attn") == 0;
        const TraceTensor *dq = GRADIENT(cross ? "q" : "qkv"), *dkv = cross ? GRADIENT("kv") : dq;
        char name[64];
        const struct {
            const char *part;
            const TraceTensor *d;
            int from;
        } parts[] = {{"out_proj", GRADIENT("output"), 0},
                     {"q_proj", dq, 0},
                     {"k_proj", dkv, cross ? 0 : HK},
                     {"v_proj", dkv, cross ? HK : 2 * HK}};
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "%s.%s.bias", sublayer, parts[i].part);
            check_bias(f, PARAM(name), parts[i].d, parts[i].from);
        }
    }
    char norm_bias[64];
    snprintf(norm_bias, sizeof norm_bias, "%s.bias", norm);
    if (f->config.norm == NORM_PRE) check_bias(f, PARAM(norm_bias), GRADIENT("input"), 0);
}

static void check_gradients(Fixture *f) {
    for (int l = 0; l < 2; l++) {
        check_layer_gradients(f, "encoder", l, "self_attn", "self_attn_layer_norm");
        check_layer_gradients(f, "encoder", l, "ffn", "final_layer_norm");
        check_layer_gradients(f, "decoder", l, "self_attn", "self_attn_layer_norm");
        check_layer_gradients(f, "decoder", l, "encoder_attn", "encoder_attn_layer_norm");
        check_layer_gradients(f, "decoder", l, "ffn", "final_layer_norm");
    }
    if (f->config.norm == NORM_PRE) {
        check_bias(f, "model.encoder.layer_norm.bias", tensor(f, "encoder.memory.grad", 0, ""), 0);
        check_bias(f, "model.decoder.layer_norm.bias", tensor(f, "decoder.hidden.grad", 0, ""), 0);
    } else { /* the last norm of each layer is behind its output */
        check_bias(f, "model.encoder.layers.0.final_layer_norm.bias", tensor(f, "encoder.%d.output%s", 0, ".grad"), 0);
        check_bias(f, "model.encoder.layers.1.final_layer_norm.bias", tensor(f, "encoder.memory.grad", 0, ""), 0);
        check_bias(f, "model.decoder.layers.1.self_attn_layer_norm.bias",
                   tensor(f, "decoder.%d.after_self_attn%s", 1, ".grad"), 0);
        check_bias(f, "model.decoder.layers.0.encoder_attn_layer_norm.bias",
                   tensor(f, "decoder.%d.after_encoder_attn%s", 0, ".grad"), 0);
    }
}

static void test_gradients_are_those_of_their_parameters(void **state) {
    (void)state;
    for_each_model(check_gradients);
}

static void assert_sum(const TraceTensor *sum, const TraceTensor *a, const TraceTensor *b) {
    assert_int_equal(sum->rows * sum->cols, a->rows * a->cols);
    assert_int_equal(sum->rows * sum->cols, b->rows * b->cols);
    for (int i = 0; i < sum->rows * sum->cols; i++)
        assert_close((double)sum->values[i], (double)a->values[i] + (double)b->values[i],
                     1e-2 + fabs((double)a->values[i]));
}

/* keys = dk Wk, value by value: dk stands in front of dv in each row. */
static void check_share_of_keys(const Fixture *f, int layer) {
    const TraceTensor *keys = tensor(f, "decoder.%d.encoder_attn.memory.grad%s", layer, ".keys");
    const TraceTensor *dkv = tensor(f, "decoder.%d.encoder_attn.kv%s", layer, ".grad");
    const Linear *k_proj = &f->m.p.decoder.layer[layer].encoder_attn.k_proj;
    for (int m = 0; m < keys->rows; m++)
        for (int d = 0; d < keys->cols; d++) {
            double sum = 0, size = 0;
            for (int c = 0; c < k_proj->out; c++) {
                double term = (double)dkv->values[m * dkv->cols + c] * (double)k_proj->W[c * k_proj->in + d];
                sum += term;
                size += fabs(term);
            }
            assert_close((double)keys->values[m * keys->cols + d], sum, size + 1e-3);
        }
}

/* Each residual: total = past + through. The encoder's output: each layer's keys + values, and the layers together. */
static void check_sums(Fixture *f) {
    int residuals = 0;
    for (int i = 0; i < f->trace.count; i++) {
        char name[96];
        const TraceTensor *past = &f->trace.tensor[i];
        char *end = strstr(strcpy(name, past->name), ".past");
        if (end == NULL) continue;
        strcpy(end, ".through");
        const TraceTensor *through = trace_find(&f->trace, name);
        *end = '\0';
        assert_non_null(through);
        assert_sum(trace_find(&f->trace, name), past, through);
        residuals++;
    }
    assert_int_equal(residuals, 2 * 2 + 2 * 3);
    const char *share = "decoder.%d.encoder_attn.memory.grad%s";
    for (int l = 0; l < 2; l++) {
        assert_sum(tensor(f, share, l, ""), tensor(f, share, l, ".keys"), tensor(f, share, l, ".values"));
        check_share_of_keys(f, l);
    }
    assert_sum(tensor(f, "encoder.memory.grad", 0, ""), tensor(f, share, 0, ""), tensor(f, share, 1, ""));
    assert_true(tensor(f, share, 0, ".values")->norm > 0);
}

static void test_sums(void **state) {
    (void)state;
    for_each_model(check_sums);
}

/* A sublayer that nothing comes through leaves buffers with the values that they had. */
static void test_dead_sublayers(void **state) {
    (void)state;
    for (int norm = NORM_POST; norm <= NORM_PRE; norm++) {
        Fixture f;
        fixture_init(&f, (NormPlace)norm, TIE_NONE, 4, 3);
        trace_free(&f.trace);
        memset(f.m.gradients, 0, f.m.table.total * sizeof(real));
        for (int i = 0; i < f.m.table.count; i++) {
            const Param *p = &f.m.table.param[i];
            if (strstr(p->name, "fc2.weight") != NULL || strstr(p->name, ".0.encoder_attn.q_proj.weight") != NULL)
                memset(f.m.parameters + p->offset, 0, param_size(p) * sizeof(real));
        }
        trace_run(&f.trace, &f.m.dp, &f.batch, &f.m.p, &f.m.positions);
        check_names(&f);
        check_gradients(&f);
        check_sums(&f);
        assert_true(tensor(&f, "decoder.%d.after_encoder_attn%s", 1, ".grad.through")->norm == 0);
        assert_true(tensor(&f, "decoder.%d.after_self_attn%s", 0, ".grad.through")->norm == 0);
        assert_true(tensor(&f, "encoder.%d.ffn%s", 0, ".hidden.grad")->norm == 0);
        assert_true(tensor(&f, "encoder.%d.self_attn%s", 0, ".qkv.grad")->norm > 0);
        fixture_free(&f);
    }
}

/* Each rule names a function that its file defines. */
static void test_functions_are_where_the_rules_say(void **state) {
    (void)state;
    int count;
    const TraceRule *rules = trace_rules(&count);
    for (int i = 0; i < count; i++) {
        Error error;
        char call[96];
        size_t size;
        char *text = file_read(rules[i].file, 1 << 20, &size, &error);
        assert_non_null(text);
        snprintf(call, sizeof call, " %s(", rules[i].function);
        if (strstr(text, call) == NULL) print_message("%s is not in %s\n", rules[i].function, rules[i].file);
        assert_non_null(strstr(text, call));
        memory_free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_attention_rows_sum_to_one),
        cmocka_unit_test(test_gradients_are_those_of_their_parameters),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_dead_sublayers),
        cmocka_unit_test(test_functions_are_where_the_rules_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
