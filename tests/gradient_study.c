/* What ./gradcheck shows beside the check itself: the parts of a gradient, the V of the errors, the reduced model, the
 * demonstrations. */
#include "tests/support/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/matmul.h"
#include "study/checked_model.h"
#include "study/contributions.h"
#include "study/demos.h"
#include "study/element_view.h"
#include "study/gradient_table.h"
#include "study/memory_gradient.h"
#include "tests/support/small_model.h"

enum { SENTENCES = 3 };

typedef struct Case {
    SmallModel m;
    Batch batch;
    ModelCheck check;
} Case;

static const DropoutDraw draw = {.seed = 3, .update = 7};

static void case_init(Case *c, TieEmbeddings tie) {
    const int source[SENTENCES] = {4, 1, 7}, target[SENTENCES] = {3, 6, 1};
    ModelConfig config = small_config(NORM_PRE, ACTIVATION_RELU, tie);
    config.dropout = (DropoutRates){0.1, 0.2, 0.15, 0.25, 0, 0};
    small_model_init(&c->m, &config, 5);
    small_model_stir(&c->m, 6);
    c->batch = small_batch(&config, SENTENCES, source, target, 1);
    SmallModel *m = &c->m;
    c->check = (ModelCheck){.table = &m->table,
                            .parameters = m->parameters,
                            .gradients = m->gradients,
                            .p = &m->p,
                            .dp = &m->dp,
                            .positions = &m->positions,
                            .batch = &c->batch,
                            .smoothing = 0.1,
                            .draw = &draw,
                            .arena = &m->arena};
    model_check_gradient(&c->check);
}

static void case_free(Case *c) {
    small_model_free(&c->m);
    small_batch_free(&c->batch);
}

static void test_uses_of_a_tied_matrix(void **state) {
    (void)state;
    static const char *const name[] = {"lm_head.weight", "lm_head.weight", "lm_head.weight",
                                       "model.encoder.layers.0.fc1.weight"};
    static const TieEmbeddings tie[] = {TIE_ALL, TIE_DECODER, TIE_NONE, TIE_ALL};
    static const int uses[] = {3, 2, 0, 0};
    for (int i = 0; i < 4; i++) {
        Case c;
        case_init(&c, tie[i]);
        int param = param_find(&c.m.table, name[i]);
        const Param *p = &c.m.table.param[param];
        int width = p->cols, moved[EMBEDDING_SITES] = {0};
        for (size_t j = 0; j < param_size(p); j++) {
            Contribution part[EMBEDDING_SITES];
            double sum = 0;
            assert_int_equal(contributions_by_use(part, &c.check, param, j), uses[i]);
            for (int u = 0; u < uses[i]; u++) sum += part[u].value;
            if (uses[i] > 0) assert_true(fabs(sum - c.m.gradients[p->offset + j]) < 1e-15);
            for (int u = 0; u < uses[i]; u++) moved[u] += part[u].value != 0;
        }
        /* An embedding moves the rows of words that occur; the output layer moves all. */
        if (uses[i] > 0) assert_int_equal(moved[uses[i] - 1], param_size(p));
        for (int u = 0; u + 1 < uses[i]; u++) assert_in_range(moved[u], width, param_size(p) - (size_t)width);
        case_free(&c);
    }
}

static void test_sentences_add_up(void **state) {
    (void)state;
    Case c;
    case_init(&c, TIE_DECODER);
    for (int param = 0; param < c.m.table.count; param += 7) {
        const Param *p = &c.m.table.param[param];
        double value[SENTENCES], gradient = c.m.gradients[p->offset];
        contributions_by_sentence(value, &c.check, param, 0);
        assert_true(fabs(value[0] + value[1] + value[2] - gradient) < 1e-15);
        assert_true(c.m.gradients[p->offset] == gradient); /* untouched */
    }
    case_free(&c);
}

static void assert_parts_add_up(const MemoryGradient *g) {
    size_t size = (size_t)g->rows * (size_t)g->cols;
    for (size_t i = 0; i < size; i++) {
        double sum = 0;
        for (int l = 0; l < g->layers; l++) sum += g->keys[(size_t)l * size + i] + g->values[(size_t)l * size + i];
        assert_true(fabs(sum - g->whole[i]) < 1e-15);
    }
}

static double size_of(const real *x, const MemoryGradient *g, int layer) {
    double sum = 0;
    size_t size = (size_t)g->rows * (size_t)g->cols;
    for (size_t i = 0; i < size; i++) sum += fabs(x[(size_t)layer * size + i]);
    return sum;
}

/* Without queries all scores are equal, whatever the keys are: then nothing comes through keys. */
static void test_memory(void **state) {
    (void)state;
    for (int tie = TIE_ALL; tie <= TIE_NONE; tie++) {
        Case c;
        MemoryGradient g;
        GradientTensor tensor;
        case_init(&c, (TieEmbeddings)tie);
        memory_gradient_init(&g, &c.check);
        GradientResult r = memory_gradient_check(&g, &c.check, 0, &tensor);
        assert_true(gradient_check_passed(&r));
        assert_int_equal(r.checked + r.skipped, g.rows * g.cols);
        assert_parts_add_up(&g);
        for (int l = 0; l < 2; l++) assert_true(size_of(g.keys, &g, l) > 1e-3 && size_of(g.values, &g, l) > 1e-3);
        memory_gradient_free(&g);

        const Linear *q = &c.m.p.decoder.layer[1].encoder_attn.q_proj;
        memset(q->W, 0, (size_t)(q->in * q->out) * sizeof(real));
        memset(q->b, 0, (size_t)q->out * sizeof(real));
        memory_gradient_init(&g, &c.check);
        assert_parts_add_up(&g);
        assert_true(size_of(g.keys, &g, 0) > 1e-3);
        assert_true(size_of(g.keys, &g, 1) == 0);
        assert_true(size_of(g.values, &g, 1) > 1e-3);
        memory_gradient_free(&g);
        case_free(&c);
    }
}

static double power(void *context) { return pow(*(real *)context, 5); }

/* Of x^5 at 1 the third derivative is 60 and the fifth 120, so the errors are 10 h^2 and 4 h^4, until rounding takes over. */
static void test_errors_make_a_v(void **state) {
    (void)state;
    real x = 1;
    StepErrors e;
    element_differences(&e, &(GradientCheck){.loss = power, .context = &x}, &x);
    assert_near(e.h[0], 1e-2, 1e-12);
    assert_near(e.h[ELEMENT_STEPS - 1], 1e-10, 1e-12);
    for (int i = 0; i < 5; i++) assert_near(e.two_point[i] - 5, 10 * e.h[i] * e.h[i], 1e-3);
    for (int i = 0; i < 2; i++) assert_near(5 - e.five_point[i], 4 * pow(e.h[i], 4), 1e-2);
    int best = element_best_step(&e, 5);
    assert_in_range(best, 5, 11); /* around the cube root of eps: h from 3e-5 to 3e-8 */
    double left = 0;              /* a single rounding may be small by chance */
    for (int i = ELEMENT_STEPS - 4; i < ELEMENT_STEPS; i++) left = fmax(left, fabs(e.two_point[i] - 5));
    assert_true(left > 1e-8 && left > 100 * fabs(e.two_point[best] - 5));
    assert_true(x == 1);
}

/* The rows, and what they come to. The text of the table is in `text` until the next call. */
static char text[4096];
static bool print_table(const GradientTensor *tensor, const GradientResult *r, int rows) {
    memset(text, 0, sizeof text);
    GradientTable t = {.out = fmemopen(text, sizeof text, "w")};
    assert_non_null(t.out);
    gradient_table_begin(&t, 8, 8);
    for (int i = 0; i < rows; i++) gradient_table_row(&t, "part", &tensor[i], &r[i]);
    bool passed = gradient_table_end(&t);
    fclose(t.out);
    return passed;
}

static void test_table(void **state) {
    (void)state;
    const GradientTensor tensor[] = {{.name = "W", .count = 200, .rows = 10, .cols = 20},
                                     {.name = "b", .count = 8, .zero = "shifts"}};
    GradientResult r[] = {{.checked = 98, .skipped = 2, .name = "W", .index = 43, .worst = 2e-9},
                          {.checked = 8, .name = "b", .worst = 1e-9}};
    assert_true(print_table(tensor, r, 2));
    assert_non_null(strstr(text, "part      W         [10,20]           98   0.0e+00   2.0e-09  ok, 2 skipped\n"));
    assert_non_null(strstr(text, "ok, zero: shifts\n"));
    assert_non_null(
        strstr(text, "passed: 106 elements of 2 tensors; worst relative error 2.0e-09, part: W[2,3]; 2 skipped"));
    r[0].skipped = 3; /* of 109: more than 2% */
    assert_false(print_table(tensor, r, 2));
    assert_non_null(strstr(text, "FAILED: 106 elements"));
    r[0].skipped = 0;
    r[0].failed = 1;
    assert_false(print_table(tensor, r, 2));
    assert_non_null(strstr(text, "1 of 98 differ, most [2,3]"));
    assert_non_null(strstr(text, "FAILED: 1 of 2 tensors, 1 of 106 elements"));
    r[0].failed = 0;
    r[1].zero_wrong = true;
    assert_false(print_table(tensor, r, 2));
    assert_non_null(strstr(text, "not zero, which it is by theory: it shifts"));
    r[1] = (GradientResult){.skipped = 8};
    assert_false(print_table(tensor, r, 2));
    assert_non_null(strstr(text, "every element was skipped"));
}

/* relu(x - kink) does not disturb steps that stay on one side. */
static const double KINK = 1 + 5e-4;
static double bent(void *context) { return fmax(0, *(real *)context - KINK); }
static uint64_t side(void *context) { return *(real *)context > KINK; }

static void test_kinks_are_marked(void **state) {
    (void)state;
    real x = 1;
    StepErrors e;
    element_differences(&e, &(GradientCheck){.loss = bent, .pattern = side, .context = &x}, &x);
    for (int i = 0; i < ELEMENT_STEPS; i++) {
        assert_int_equal(e.kink[i], 2 * e.h[i] > 5e-4);
        assert_int_equal(e.five_point[i] != 0, e.kink[i]);
    }
}

static void test_elements_are_found(void **state) {
    (void)state;
    Case c;
    case_init(&c, TIE_ALL);
    ElementPlace place;
    Error error;
    assert_true(element_find(&place, &c.m.table, "lm_head.weight[2,3]", &error));
    assert_int_equal(place.param, 0);
    assert_int_equal(place.index, 2 * 8 + 3);
    assert_true(element_find(&place, &c.m.table, "model.decoder.layer_norm.bias[7]", &error));
    assert_int_equal(place.index, 7);
    assert_false(element_find(&place, &c.m.table, "model.decoder.layers.1.fc1.wieght[0,0]", &error));
    assert_non_null(strstr(error.text, "did you mean model.decoder.layers.1.fc1.weight?"));
    static const char *const wrong[] = {"",       "[",      "[2]",    "[2,]",  "[2,3",
                                        "[2,3]x", "[-1,0]", "[23,0]", "[0,8]", "[0,99999999999999999999]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char name[64];
        snprintf(name, sizeof name, "lm_head.weight%s", wrong[i]);
        assert_false(element_find(&place, &c.m.table, name, &error));
        assert_non_null(strstr(error.text, "from lm_head.weight[0,0] to [22,7]"));
    }
    case_free(&c);
}

static void test_reduction_keeps_the_structure(void **state) {
    (void)state;
    const ModelConfig large = {.source_vocab = 8000,
                               .target_vocab = 10000,
                               .encoder_width = 512,
                               .decoder_width = 256,
                               .encoder_layers = 6,
                               .decoder_layers = 6,
                               .heads = 8,
                               .d_k = 64,
                               .d_v = 32,
                               .ffn_dim = 2048,
                               .norm = NORM_PRE,
                               .activation = ACTIVATION_GELU,
                               .tie = TIE_DECODER,
                               .qkv_gain = 0.7};
    ModelConfig r = model_reduce(&large), again = model_reduce(&r);
    assert_true(r.source_vocab < r.target_vocab && r.encoder_width > r.decoder_width && r.d_k > r.d_v);
    assert_int_equal(r.encoder_layers, 2);
    assert_int_equal(r.decoder_layers, 2);
    assert_true(r.norm == large.norm && r.activation == large.activation && r.tie == large.tie);
    assert_true(r.qkv_gain == large.qkv_gain);
    ParamTable table = transformer_table(&r), same = transformer_table(&again); /* small sizes stay as they are */
    assert_true(table.total < 4000);
    assert_int_equal(table.count, same.count);
    for (int i = 0; i < table.count; i++) assert_int_equal(param_size(&table.param[i]), param_size(&same.param[i]));
    param_table_free(&table);
    param_table_free(&same);
}

static void test_scale(void **state) {
    (void)state;
    ScaleRow before = demo_scale_row(16, false);
    for (int d_k = 64; d_k <= 1024; d_k *= 4) {
        ScaleRow without = demo_scale_row(d_k, false), with = demo_scale_row(d_k, true);
        assert_true(fabs(with.scores - 1) < 0.1 && fabs(with.entropy - 3.69) < 0.1);
        assert_true(fabs(without.scores - sqrt(d_k)) < 0.1 * sqrt(d_k));
        assert_true(without.entropy < 0.7 * before.entropy && without.gradient < 0.7 * before.gradient);
        assert_true(without.largest > before.largest);
        before = without;
    }
}

static void test_causality(void **state) {
    (void)state;
    Case c;
    case_init(&c, TIE_ALL);
    for (int s = 0; s < SENTENCES; s++)
        for (int changed = 0; changed < packed_length(&c.batch.target, s); changed++) {
            double largest[6];
            demo_change_target(largest, &c.check, s, changed);
            for (int t = 0; t < packed_length(&c.batch.target, s); t++)
                assert_true((largest[t] != 0) == (t >= changed));
        }
    case_free(&c);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uses_of_a_tied_matrix),
        cmocka_unit_test(test_sentences_add_up),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_errors_make_a_v),
        cmocka_unit_test(test_kinks_are_marked),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_elements_are_found),
        cmocka_unit_test(test_reduction_keeps_the_structure),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_causality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
