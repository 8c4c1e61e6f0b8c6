#include "tests/support/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "study/gradient_check.h"

static const real ADDED = 7; /* what gradients that are added to hold before */

static void fill(real *x, real a, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = a;
}

static real *take(size_t count) { return memory_alloc(count, sizeof(real), "gradient test"); }

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
    arena_init(&probe->arena, "gradient test");
    probe_zero(probe, "k_proj.bias");
    if (module.bind == NULL) return;
    module.bind(self, &(ParamBinder){.table = &probe->table}, false);
    probe->parameters = take(probe->table.total);
    probe->gradients = take(probe->table.total);
    module.bind(self, &(ParamBinder){.slab = probe->parameters}, false);
    module.bind(self, &(ParamBinder){.slab = probe->gradients}, true);
    random_parameters(probe);
}

static void add_input(Probe *probe, const char *name, int count, real **value, real **gradient, real prefill) {
    assert_true(probe->inputs < PROBE_MOST_INPUTS);
    ProbeInput input = {.name = name, .count = (size_t)count, .prefill = prefill};
    input.value = take(input.count);
    probe_random(input.value, input.count, 1 + (uint64_t)probe->inputs);
    *value = input.value;
    if (gradient != NULL) *gradient = input.gradient = take(input.count);
    probe->input[probe->inputs++] = input;
}

void probe_input(Probe *probe, const char *name, int count, real **value, real **gradient) {
    add_input(probe, name, count, value, gradient, (real)NAN);
}

void probe_input_added(Probe *probe, const char *name, int count, real **value, real **gradient) {
    add_input(probe, name, count, value, gradient, ADDED);
}

void probe_output(Probe *probe, int count, real **out, real **dout) {
    assert_null(probe->out);
    probe->outs = (size_t)count;
    *out = probe->out = take(probe->outs);
    *dout = probe->weight = take(probe->outs);
    probe_random(probe->weight, probe->outs, 2000);
}

void probe_zero(Probe *probe, const char *name_end) {
    assert_true(probe->zeros < PROBE_MOST_ZEROS);
    probe->zero[probe->zeros++] = name_end;
}

static bool is_zero(const Probe *probe, const char *name) {
    for (int i = 0; i < probe->zeros; i++) {
        size_t length = strlen(name), end = strlen(probe->zero[i]);
        if (length >= end && strcmp(name + length - end, probe->zero[i]) == 0) return true;
    }
    return false;
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
    for (int i = 0; i < probe->inputs; i++)
        if (probe->input[i].gradient != NULL)
            fill(probe->input[i].gradient, probe->input[i].prefill, probe->input[i].count);
    probe->module.forward(probe->self, &probe->arena);
    probe->module.backward(probe->self, &probe->arena);
    arena_release(&probe->arena, mark);

    for (size_t i = 0; i < probe->table.total; i++) probe->gradients[i] -= ADDED;
    for (int i = 0; i < probe->inputs; i++)
        for (size_t j = 0; probe->input[i].prefill == ADDED && j < probe->input[i].count; j++)
            probe->input[i].gradient[j] -= ADDED;
}

static int list_tensors(GradientTensor *list, const Probe *probe) {
    int count = 0;
    for (int i = 0; i < probe->table.count; i++) {
        const Param *p = &probe->table.param[i];
        list[count++] = (GradientTensor){p->name, probe->parameters + p->offset, probe->gradients + p->offset,
                                         param_size(p), is_zero(probe, p->name)};
    }
    for (int i = 0; i < probe->inputs; i++) {
        const ProbeInput *in = &probe->input[i];
        if (in->gradient == NULL) continue;
        list[count++] = (GradientTensor){in->name, in->value, in->gradient, in->count, is_zero(probe, in->name)};
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

static void report(const char *name, const GradientTensor *tensor, int tensors, const GradientResult *each,
                   const GradientResult *sum) {
    printf("  %-44s %5zu elements, worst %.1e (%s[%zu])", name, sum->checked, sum->worst, sum->name, sum->index);
    if (sum->retried > 0) printf(", %zu with smaller steps", sum->retried);
    printf("\n");
    for (int t = 0; t < tensors; t++) {
        if (gradient_check_passed(&each[t])) continue;
        printf("    %s: %zu of %zu wrong, worst %.1e: [%zu] analytic %.12g, numerical %.12g%s\n", tensor[t].name,
               each[t].failed, each[t].checked, each[t].worst, each[t].index, each[t].analytic, each[t].numeric,
               each[t].zero_wrong ? "; zero or not against theory" : "");
    }
}

void probe_check(Probe *probe) {
    int most = probe->table.count + probe->inputs;
    GradientTensor *tensor = memory_alloc((size_t)most, sizeof *tensor, "gradient test");
    GradientResult *each = memory_alloc((size_t)most, sizeof *each, "gradient test");
    analytic_gradient(probe);
    GradientCheck check = {.loss = loss,
                           .context = probe,
                           .tensor = tensor,
                           .tensors = list_tensors(tensor, probe),
                           .every = 1,
                           .step = GRADIENT_CHECK_STEP,
                           .relative = GRADIENT_CHECK_RELATIVE};
    GradientResult sum = gradient_check(&check, each);
    report(probe->name, tensor, check.tensors, each, &sum);
    memory_free(tensor);
    memory_free(each);
    probe_free(probe);
    assert_true(gradient_check_passed(&sum));
}

Dropout probe_dropout(double rate) {
    static uint64_t row_key[PROBE_ROWS];
    if (rate == 0) return (Dropout){0};
    for (int n = 0; n < PROBE_ROWS; n++) row_key[n] = hash64((uint64_t)n);
    DropoutRates rates = {.embedding = rate, .residual = 1.2 * rate, .attention = 0.8 * rate, .activation = 0.7 * rate};
    return (Dropout){rates, row_key};
}

double relative_difference(const real *a, const real *b, size_t count) {
    double difference = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        double d = fabs((double)a[i] - (double)b[i]), size = fabs((double)b[i]);
        if (d != d || size != size) return (double)NAN;
        if (d > difference) difference = d;
        if (size > largest) largest = size;
    }
    return largest > 0 ? difference / largest : difference;
}

void assert_near_at(double a, double b, double tolerance, const char *file, int line) {
    double difference = fabs(a - b), size = fabs(b) > fabs(a) ? fabs(b) : fabs(a);
    if (difference == 0 || difference <= tolerance * size) return;
    print_error("%.17g is not near %.17g: relative difference %.2e > %.1e\n", a, b, difference / size, tolerance);
    _fail(file, line);
}

void assert_below_at(double value, double limit, const char *file, int line) {
    if (value <= limit) return;
    print_error("%.6g is not below %.6g\n", value, limit);
    _fail(file, line);
}
