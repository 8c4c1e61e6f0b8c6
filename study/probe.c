#include "study/probe.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

const char PROBE_KEY_BIAS[] = "shifts all scores of a softmax row alike";

static const real ADDED = 7; /* what gradients that are added to hold before */

static void fill(real *x, real a, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = a;
}

static real *take(size_t count) { return memory_alloc(count, sizeof(real), "gradient check"); }

void probe_random(real *values, size_t count, uint64_t seed) {
    Rng rng = {hash64(seed)};
    for (size_t i = 0; i < count; i++) values[i] = (real)rng_normal(&rng);
}

/* Random biases and norms too: an initial 0 or 1 would hide what is multiplied by it. */
static void random_parameters(Probe *probe) {
    for (int i = 0; i < probe->table.count; i++) {
        const Param *p = &probe->table.param[i];
        real *value = probe->parameters + p->offset;
        probe_random(value, param_size(p), 1000 + (uint64_t)i);
        for (size_t j = 0; j < param_size(p); j++)
            value[j] = (real)0.5 * value[j] + (p->role == PARAM_NORM_WEIGHT ? 1 : 0);
    }
}

void probe_begin(Probe *probe, const char *name, void *self, ProbeModule module) {
    *probe = (Probe){.name = name, .self = self, .module = module};
    arena_init(&probe->arena, "gradient check");
    probe_zero(probe, "k_proj.bias", PROBE_KEY_BIAS);
    if (module.bind == NULL) return;
    module.bind(self, &(ParamBinder){.table = &probe->table}, false);
    probe->parameters = take(probe->table.total);
    probe->gradients = take(probe->table.total);
    module.bind(self, &(ParamBinder){.slab = probe->parameters}, false);
    module.bind(self, &(ParamBinder){.slab = probe->gradients}, true);
    random_parameters(probe);
}

static size_t input_size(const ProbeInput *in) { return (size_t)in->rows * (size_t)in->cols; }

static void add_input(Probe *probe, ProbeInput input, real **value, real **gradient) {
    assert(probe->inputs < PROBE_MOST_INPUTS);
    *value = input.value = take(input_size(&input));
    probe_random(input.value, input_size(&input), 1 + (uint64_t)probe->inputs);
    if (gradient != NULL) *gradient = input.gradient = take(input_size(&input));
    probe->input[probe->inputs++] = input;
}

void probe_input(Probe *probe, const char *name, int rows, int cols, real **value, real **gradient) {
    add_input(probe, (ProbeInput){.name = name, .rows = rows, .cols = cols, .prefill = (real)NAN}, value, gradient);
}

void probe_input_added(Probe *probe, const char *name, int rows, int cols, real **value, real **gradient) {
    add_input(probe, (ProbeInput){.name = name, .rows = rows, .cols = cols, .prefill = ADDED}, value, gradient);
}

void probe_output(Probe *probe, int count, real **out, real **dout) {
    assert(probe->out == NULL);
    probe->outs = (size_t)count;
    *out = probe->out = take(probe->outs);
    *dout = probe->weight = take(probe->outs);
    probe_random(probe->weight, probe->outs, 2000);
}

void probe_zero(Probe *probe, const char *name_end, const char *reason) {
    assert(probe->zeros < PROBE_MOST_ZEROS);
    probe->zero[probe->zeros++] = (ProbeZero){name_end, reason};
}

static const char *zero_reason(const Probe *probe, const char *name) {
    for (int i = 0; i < probe->zeros; i++) {
        const ProbeZero *z = &probe->zero[i];
        size_t length = strlen(name), end = strlen(z->name_end);
        if (length >= end && strcmp(name + length - end, z->name_end) == 0) return z->reason;
    }
    return NULL;
}

static double loss(void *context) {
    Probe *probe = context;
    ArenaMark mark = arena_mark(&probe->arena);
    fill(probe->out, (real)NAN, probe->outs);
    probe->module.forward(probe->self, &probe->arena);
    arena_release(&probe->arena, mark);
    double sum = 0;
    for (size_t i = 0; i < probe->outs; i++) sum += (double)probe->weight[i] * (double)probe->out[i];
    return sum;
}

static void analytic_gradient(Probe *probe) {
    ArenaMark mark = arena_mark(&probe->arena);
    fill(probe->gradients, ADDED, probe->table.total);
    for (int i = 0; i < probe->inputs; i++) {
        const ProbeInput *in = &probe->input[i];
        if (in->gradient != NULL) fill(in->gradient, in->prefill, input_size(in));
    }
    probe->module.forward(probe->self, &probe->arena);
    probe->module.backward(probe->self, &probe->arena);
    arena_release(&probe->arena, mark);

    for (size_t i = 0; i < probe->table.total; i++) probe->gradients[i] -= ADDED;
    for (int i = 0; i < probe->inputs; i++) {
        const ProbeInput *in = &probe->input[i];
        for (size_t j = 0; in->prefill == ADDED && j < input_size(in); j++) in->gradient[j] -= ADDED;
    }
}

static int list_tensors(GradientTensor *list, const Probe *probe) {
    int count = 0;
    for (int i = 0; i < probe->table.count; i++) {
        const Param *p = &probe->table.param[i];
        list[count++] = (GradientTensor){.name = p->name,
                                         .value = probe->parameters + p->offset,
                                         .analytic = probe->gradients + p->offset,
                                         .count = param_size(p),
                                         .zero = zero_reason(probe, p->name),
                                         .rows = p->rank == 1 ? 0 : p->rows,
                                         .cols = p->cols};
    }
    for (int i = 0; i < probe->inputs; i++) {
        const ProbeInput *in = &probe->input[i];
        if (in->gradient == NULL) continue;
        list[count++] = (GradientTensor){.name = in->name,
                                         .value = in->value,
                                         .analytic = in->gradient,
                                         .count = input_size(in),
                                         .zero = zero_reason(probe, in->name),
                                         .rows = in->rows,
                                         .cols = in->cols};
    }
    return count;
}

static void probe_free(Probe *probe) {
    for (int i = 0; i < probe->inputs; i++) {
        memory_free(probe->input[i].value);
        memory_free(probe->input[i].gradient);
    }
    memory_free(probe->parameters);
    memory_free(probe->gradients);
    memory_free(probe->out);
    memory_free(probe->weight);
    param_table_free(&probe->table);
    arena_free(&probe->arena);
}

void probe_finish(Probe *probe, const ProbeVisitor *visitor) {
    int most = probe->table.count + probe->inputs;
    GradientTensor *tensor = memory_alloc((size_t)most, sizeof *tensor, "gradient check");
    GradientResult *each = memory_alloc((size_t)most, sizeof *each, "gradient check");
    analytic_gradient(probe);
    GradientCheck check = {.loss = loss,
                           .context = probe,
                           .tensor = tensor,
                           .tensors = list_tensors(tensor, probe),
                           .every = 1,
                           .most = visitor->most,
                           .step = GRADIENT_CHECK_STEP,
                           .relative = GRADIENT_CHECK_RELATIVE};
    GradientResult sum = gradient_check(&check, each);
    visitor->visit(visitor->context, &(ProbeReport){probe->name, tensor, each, check.tensors, sum});
    memory_free(tensor);
    memory_free(each);
    probe_free(probe);
}

Dropout probe_dropout(double rate) {
    static uint64_t row_key[PROBE_ROWS];
    if (rate == 0) return (Dropout){0};
    for (int n = 0; n < PROBE_ROWS; n++) row_key[n] = hash64((uint64_t)n);
    DropoutRates rates = {.embedding = rate, .residual = 1.2 * rate, .attention = 0.8 * rate, .activation = 0.7 * rate};
    return (Dropout){rates, row_key};
}
