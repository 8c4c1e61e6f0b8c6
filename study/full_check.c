#include "study/full_check.h"

#include "base/memory.h"
#include "study/memory_gradient.h"

enum { SMALL_MODEL = 100000, SMALL_SAMPLES = MODULE_SAMPLES, LARGE_SAMPLES = 8, MODULE_WIDTH = 48 };

size_t full_check_samples(const ParamTable *table) {
    return table->total <= SMALL_MODEL ? SMALL_SAMPLES : LARGE_SAMPLES;
}

typedef struct ModulePart {
    GradientTable *table;
    bool every_tensor; /* of all variants, not only of the first */
    bool first;
} ModulePart;

static void print_module(void *context, const ProbeReport *r) {
    ModulePart *part = context;
    if (part->every_tensor || part->first || !gradient_check_passed(&r->sum))
        for (int i = 0; i < r->tensors; i++) gradient_table_row(part->table, r->name, &r->tensor[i], &r->each[i]);
    else
        gradient_table_fold(part->table, r->name, r->tensors, &r->sum);
    part->first = false;
}

void full_check_modules(GradientTable *t, const StudyModule *only, size_t most) {
    gradient_table_begin(t, MODULE_WIDTH, 28);
    for (int i = 0; i < STUDY_MODULES; i++) {
        ModulePart part = {t, only != NULL, true};
        if (only == NULL || only == &study_modules[i])
            study_modules[i].check(&(ProbeVisitor){.visit = print_module, .context = &part, .most = most});
    }
}

/* The context of the model's check: the functions that ask for a ModelCheck find one in front. */
typedef struct ModelPart {
    ModelCheck check;
    const GradientTensor *tensor;
    GradientTable *table;
} ModelPart;

static void print_tensor(void *context, int i, const GradientResult *r) {
    ModelPart *part = context;
    gradient_table_row(part->table, "model", &part->tensor[i], r);
}

static void check_memory(GradientTable *t, const CheckedModel *m, size_t most) {
    MemoryGradient g;
    GradientTensor tensor;
    memory_gradient_init(&g, &m->check);
    GradientResult r = memory_gradient_check(&g, &m->check, most, &tensor);
    gradient_table_row(t, "model", &tensor, &r);
    memory_gradient_print(&g, t->out);
    memory_gradient_free(&g);
}

void full_check_model(GradientTable *t, CheckedModel *m, size_t most) {
    GradientTensor *tensor = memory_alloc((size_t)m->table.count, sizeof *tensor, "gradient check");
    model_check_gradient(&m->check);
    model_check_tensors(tensor, &m->check);
    ModelPart part = {m->check, tensor, t};
    GradientCheck check = {.loss = model_check_loss,
                           .pattern = m->config.activation == ACTIVATION_RELU ? model_check_pattern : NULL,
                           .context = &part,
                           .tensor = tensor,
                           .tensors = m->table.count,
                           .every = 1,
                           .most = most,
                           .step = GRADIENT_CHECK_STEP,
                           .relative = GRADIENT_CHECK_RELATIVE,
                           .done = print_tensor};
    gradient_table_begin(t, 5, 53);
    gradient_check(&check, NULL);
    check_memory(t, m, most);
    memory_free(tensor);
}

static void describe_sizes(FILE *out, const char *label, const ModelConfig *c) {
    fprintf(out,
            "%-10s %d+%d layers, width %d+%d, %d heads, d_k %d, d_v %d, feed-forward %d, vocabulary %d+%d, %s-norm\n",
            label, c->encoder_layers, c->decoder_layers, c->encoder_width, c->decoder_width, c->heads, c->d_k, c->d_v,
            c->ffn_dim, c->source_vocab, c->target_vocab, c->norm == NORM_PRE ? "pre" : "post");
}

void full_check_describe(FILE *out, const CheckedModel *m, size_t most) {
    describe_sizes(out, "model", &m->configured);
    if (m->reduced) describe_sizes(out, "reduced to", &m->config);
    fprintf(out, "%-10s %s; %zu in %d tensors\n", "weights", m->weights, m->table.total, m->table.count);
    fprintf(out, "%-10s %s: %d source, %d target tokens; dropout as in update 1, label smoothing %g\n", "text", m->text,
            packed_rows(&m->batch.source), packed_rows(&m->batch.target), m->check.smoothing);
    if (most == 0)
        fprintf(out, "%-10s every element\n", "checked");
    else
        fprintf(out,
                "%-10s at most %zu elements of each tensor, one in each of as many blocks:\n"
                "           in turn any one, by a hash of its place, and the one with the largest gradient\n",
                "checked", most);
}
