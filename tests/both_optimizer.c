/* The optimizers and the moving average against their definitions, in double and one element at a time; and that weight
 * decay leaves norms and biases alone. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/memory.h"
#include "tests/support/small_model.h"
#include "tests/support/twin.h"
#include "training/ema.h"
#include "training/optimizer.h"

static const ConfigTrain METHODS[] = {
    {.optimizer = CONFIG_OPTIMIZER_ADAM, .adam_beta1 = 0.9, .adam_beta2 = 0.98, .adam_eps = 1e-9},
    {.optimizer = CONFIG_OPTIMIZER_ADAM, .adam_beta1 = 0.9, .adam_beta2 = 0.98, .adam_eps = 1e-9, .weight_decay = 0.2},
    {.optimizer = CONFIG_OPTIMIZER_ADAMW, .adam_beta1 = 0.8, .adam_beta2 = 0.99, .adam_eps = 1e-8},
    {.optimizer = CONFIG_OPTIMIZER_ADAMW,
     .adam_beta1 = 0.9,
     .adam_beta2 = 0.999,
     .adam_eps = 1e-8,
     .weight_decay = 0.1},
    {.optimizer = CONFIG_OPTIMIZER_SGD},
    {.optimizer = CONFIG_OPTIMIZER_SGD, .momentum = 0.9},
    {.optimizer = CONFIG_OPTIMIZER_SGD, .momentum = 0.5, .weight_decay = 0.3},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* One element. Adds the size of what is rounded to p->size. */
typedef struct TwinMoments {
    double m, v;
} TwinMoments;

static double twin_adam(TwinMoments *a, const ConfigTrain *c, double g, int update) {
    a->m = c->adam_beta1 * a->m + (1 - c->adam_beta1) * g;
    a->v = c->adam_beta2 * a->v + (1 - c->adam_beta2) * g * g;
    double mhat = a->m / (1 - pow(c->adam_beta1, update)), vhat = a->v / (1 - pow(c->adam_beta2, update));
    return mhat / (sqrt(vhat) + c->adam_eps);
}

static void twin_step(TwinSum *p, TwinMoments *a, const ConfigTrain *c, bool decayed, double g, double lr, int update) {
    double w = decayed ? c->weight_decay : 0, before = p->value, step;
    if (c->optimizer == CONFIG_OPTIMIZER_ADAMW) {
        step = twin_adam(a, c, g, update) + w * before;
    } else if (c->optimizer == CONFIG_OPTIMIZER_ADAM) {
        step = twin_adam(a, c, g + w * before, update);
    } else {
        a->m = c->momentum * a->m + (g + w * before);
        step = a->m;
    }
    twin_add(p, -lr * step, lr * (1 + fabs(step)));
}

/* A table of some tensors of N x d, roles by turns from the seed on. */
static ParamTable made_up_table(Param *param, int N, int D, uint64_t seed) {
    ParamTable table = {.param = param};
    for (int d = D; d > 0; d -= 1 + d / 2) {
        Param p = {.rank = 2, .rows = N, .cols = d, .offset = table.total};
        p.role = (ParamRole)((seed + (uint64_t)table.count * table.count) % (PARAM_NORM_BIAS + 1));
        param[table.count++] = p;
        table.total += param_size(&p);
    }
    return table;
}

static bool twin_is_decayed(const ParamTable *table, size_t element) {
    const Param *p = table->param;
    while (element >= p->offset + param_size(p)) p++;
    return p->role != PARAM_BIAS && p->role != PARAM_NORM_WEIGHT && p->role != PARAM_NORM_BIAS;
}

/* Some elements have no gradient, or a tiny one. */
static void check_method(const ConfigTrain *c, int N, int D, uint64_t seed, Arena *arena) {
    Param param[16];
    ParamTable table = made_up_table(param, N, D, seed);
    size_t size = table.total;
    double factor = seed % 200 ? 1 : 0.37;
    real *p = twin_random(arena, size, seed), *gradient = twin_output(arena, size);
    TwinSum *twin = twin_sums_from(arena, p, size);
    TwinMoments *moments = arena_array(arena, TwinMoments, "moments", size);
    memset(moments, 0, size * sizeof *moments);
    Optimizer o;
    optimizer_init(&o, c, &table);
    for (int update = 1; update <= 5; update++) {
        double lr = 0.1 / update;
        probe_random(gradient, size, seed + (uint64_t)update);
        for (size_t i = 0; i < size; i++) gradient[i] *= i % 7 == 0 ? 0 : i % 7 == 1 ? (real)1e-6 : 1;
        for (size_t i = 0; i < size; i++)
            twin_step(&twin[i], &moments[i], c, twin_is_decayed(&table, i), factor * (double)gradient[i], lr, update);
        optimizer_update(p, &o, gradient, factor, lr, 1 + update % 3);
    }
    assert_sums(p, twin, size, 16);
    assert_true(p[size] == TWIN_UNTOUCHED);
    assert_true((o.v == NULL) == (c->optimizer == CONFIG_OPTIMIZER_SGD));
    optimizer_free(&o);
}

static void check_methods(int N, int D, uint64_t seed, Arena *arena) {
    for (int i = 0; i < METHOD_COUNT; i++) check_method(&METHODS[i], N, D, seed, arena);
}

static void test_optimizers(void **state) {
    (void)state;
    twin_for_shapes(check_methods, 20, 17, 120);
}

/* In a real model without any gradient: decay pulls to 0 what it is meant for, and changes no bit of the rest. */
static void test_norms_and_biases_are_not_decayed(void **state) {
    (void)state;
    ModelConfig config = small_config(NORM_PRE, ACTIVATION_RELU, TIE_DECODER);
    for (int i = 0; i < METHOD_COUNT; i++) {
        if (!(METHODS[i].weight_decay > 0)) continue;
        SmallModel m;
        Optimizer o;
        small_model_init(&m, &config, 3);
        size_t size = m.table.total;
        real *before = memcpy(memory_alloc(size, sizeof(real), "test"), m.parameters, size * sizeof(real));
        memset(m.gradients, 0, size * sizeof(real));
        optimizer_init(&o, &METHODS[i], &m.table);
        optimizer_update(m.parameters, &o, m.gradients, 1, 0.01, 2);
        for (int k = 0; k < m.table.count; k++) {
            const Param *p = &m.table.param[k];
            bool vector = strstr(p->name, "bias") != NULL || strstr(p->name, "layer_norm") != NULL;
            for (size_t j = p->offset; j < p->offset + param_size(p); j++) {
                double value = (double)before[j], change = (double)m.parameters[j] - value;
                if (vector ? change != 0 : !(value * change < 0))
                    fail_msg("method %d: %s: %g changed by %g", i, p->name, value, change);
            }
        }
        optimizer_free(&o);
        memory_free(before);
        small_model_free(&m);
    }
}

static void check_ema(int N, int D, uint64_t seed, Arena *arena) {
    size_t size = (size_t)N * (size_t)D;
    real *p = twin_random(arena, size, seed), *average = twin_random(arena, size, seed), *start = ema_new(p, size);
    TwinSum *twin = twin_sums_from(arena, p, size);
    assert_memory_equal(start, p, size * sizeof(real));
    memory_free(start);
    for (int u = 1; u <= 5; u++) {
        double decay = fmin(0.25, (1.0 + u) / (10.0 + u)); /* 2/11, then 0.25 */
        probe_random(p, size, seed + (uint64_t)u);
        for (size_t i = 0; i < size; i++) {
            double value = decay * twin[i].value + (1 - decay) * (double)p[i];
            twin_add(&twin[i], value - twin[i].value, fabs(value) + fabs((double)p[i]));
        }
        ema_update(average, p, size, ema_decay(0.25, u), 1 + u % 3);
    }
    assert_sums(average, twin, size, 8);
}

static void test_ema(void **state) {
    (void)state;
    twin_for_shapes(check_ema, 20, 17, 120);
    assert_near(ema_decay(0.999, 1), 2 / 11.0, 1e-15);
    assert_near(ema_decay(0.999, 90), 0.91, 1e-15);
    assert_true(ema_decay(0.999, 10000) == 0.999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimizers),
        cmocka_unit_test(test_norms_and_biases_are_not_decayed),
        cmocka_unit_test(test_ema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
