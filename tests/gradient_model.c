/* Gradients of the whole model: some elements of every tensor, for each norm, activation and tie. */
#include "tests/support/probe.h"

#include <stdio.h>

#include "base/memory.h"
#include "model/matmul.h"
#include "study/model_check.h"
#include "tests/support/small_model.h"

static GradientResult check_tensors(ModelCheck *c, size_t every) {
    size_t count = (size_t)c->table->count;
    GradientTensor *tensor = memory_alloc(count, sizeof *tensor, "gradient test");
    GradientResult *each = memory_alloc(count, sizeof *each, "gradient test");
    model_check_tensors(tensor, c);
    GradientCheck check = {.loss = model_check_loss,
                           .context = c,
                           .tensor = tensor,
                           .tensors = c->table->count,
                           .every = every,
                           .step = GRADIENT_CHECK_STEP,
                           .relative = GRADIENT_CHECK_RELATIVE};
    GradientResult sum = gradient_check(&check, each);
    for (size_t i = 0; i < count; i++)
        if (!gradient_check_passed(&each[i]))
            printf("    %s: %zu of %zu wrong, worst %.1e: [%zu] analytic %.12g, numerical %.12g\n", tensor[i].name,
                   each[i].failed, each[i].checked, each[i].worst, each[i].index, each[i].analytic, each[i].numeric);
    memory_free(tensor);
    memory_free(each);
    return sum;
}

static void check_objective(const char *name, const ModelConfig *config, const Batch *batch, double smoothing,
                            double rdrop, const DropoutDraw *draw, size_t every) {
    SmallModel m;
    small_model_init(&m, config, 5);
    small_model_stir(&m, 6);
    ModelCheck c = {&m.table, m.parameters, m.gradients, &m.p, &m.dp,   &m.positions,
                    batch,    smoothing,    rdrop,       draw, &m.arena};
    model_check_gradient(&c);
    GradientResult r = check_tensors(&c, every);
    printf("  %-44s %5zu of %zu elements, worst %.1e (%s[%zu])", name, r.checked, m.table.total, r.worst, r.name,
           r.index);
    if (r.retried > 0) printf(", %zu with smaller steps", r.retried);
    printf("\n");
    assert_true(gradient_check_passed(&r));
    small_model_free(&m);
}

static void check_model(const char *name, const ModelConfig *config, const Batch *batch, double smoothing,
                        const DropoutDraw *draw, size_t every) {
    check_objective(name, config, batch, smoothing, 0, draw, every);
}

static const char *const NORM[] = {"post", "pre"}, *const ACTIVATION[] = {"relu", "gelu"},
                         *const TIE[] = {"all", "decoder", "none"};

static void test_kinds_of_model(void **state) {
    (void)state;
    const int source[] = {4, 1, 7}, target[] = {3, 6, 1};
    const DropoutDraw draw = {.seed = 3, .update = 7};
    for (int kind = 0; kind < 12; kind++) {
        int norm = kind & 1, activation = kind >> 1 & 1, tie = kind >> 2;
        ModelConfig config = small_config((NormPlace)norm, (Activation)activation, (TieEmbeddings)tie);
        config.dropout = (DropoutRates){0.1, 0.2, 0.15, 0.25, 0.2, 0.3};
        Batch batch = small_batch(&config, 3, source, target, 1);
        char name[64];
        snprintf(name, sizeof name, "model, %s, %s, ties %s", NORM[norm], ACTIVATION[activation], TIE[tie]);
        check_model(name, &config, &batch, 0.1, &draw, 8);
        small_batch_free(&batch);
    }
}

static void test_without_dropout(void **state) {
    (void)state;
    const int source[] = {5, 2}, target[] = {1, 9};
    for (int norm = 0; norm < 2; norm++) {
        ModelConfig config = small_config((NormPlace)norm, ACTIVATION_GELU, TIE_DECODER);
        Batch batch = small_batch(&config, 2, source, target, 2);
        check_model(norm ? "model, pre, no dropout or smoothing" : "model, post, no dropout or smoothing", &config,
                    &batch, 0, NULL, 8);
        small_batch_free(&batch);
    }
}

/* Two passes whose masks differ, in models of every tie; smooth, so that no relu changes sides in the stencil. */
static void test_rdrop(void **state) {
    (void)state;
    const int source[] = {4, 1, 7}, target[] = {3, 6, 1};
    const DropoutDraw draw = {.seed = 3, .update = 8};
    for (int tie = 0; tie < 3; tie++) {
        ModelConfig config = small_config(NORM_PRE, ACTIVATION_GELU, (TieEmbeddings)tie);
        config.dropout = (DropoutRates){0.1, 0.2, 0.15, 0.25, 0.2, 0.3};
        Batch batch = small_batch(&config, 3, source, target, 1);
        char name[64];
        snprintf(name, sizeof name, "model, R-Drop, ties %s", TIE[tie]);
        check_objective(name, &config, &batch, 0.1, 5, &draw, 8);
        small_batch_free(&batch);
    }
}

/* More target rows than the output layer takes at a time. */
static void test_several_loss_chunks(void **state) {
    (void)state;
    enum { SENTENCES = 38 };
    int source[SENTENCES], target[SENTENCES], rows = 0;
    for (int s = 0; s < SENTENCES; s++) {
        source[s] = 1 + s % 5;
        rows += target[s] = 2 + s % 17;
    }
    assert_true(rows > LOSS_CHUNK_ROWS);
    const DropoutDraw draw = {.seed = 4, .update = 1};
    ModelConfig config = small_config(NORM_POST, ACTIVATION_RELU, TIE_NONE);
    config.dropout = (DropoutRates){0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    Batch batch = small_batch(&config, SENTENCES, source, target, 3);
    check_model("model, several chunks of the loss", &config, &batch, 0.1, &draw, 200);
    small_batch_free(&batch);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_model),
        cmocka_unit_test(test_without_dropout),
        cmocka_unit_test(test_rdrop),
        cmocka_unit_test(test_several_loss_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
