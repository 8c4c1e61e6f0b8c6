/* The model against an independent implementation: tests/reference/README.md tells where the files come from.
 * Logits, loss and every gradient; then 20 updates of Adam. */
#include "tests/support/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/matmul.h"
#include "run/safetensors.h"
#include "tests/support/small_model.h"
#include "training/lanes.h"
#include "training/optimizer.h"
#include "training/schedule.h"

static const double TOLERANCE = REAL_IS_DOUBLE ? 1e-9 : 1e-4;

typedef struct Reference {
    Safetensors file;
    ModelConfig config;
    Batch batch;
    double smoothing;
} Reference;

static const char *text(const Reference *r, const char *key) {
    const char *value = safetensors_metadata(&r->file, key);
    if (value == NULL) fail_msg("%s has no %s", r->file.path, key);
    return value;
}

static int whole(const Reference *r, const char *key) { return atoi(text(r, key)); }

static double number(const Reference *r, const char *key) { return strtod(text(r, key), NULL); }

static const SafetensorsTensor *tensor(const Reference *r, const char *name, SafetensorsType type) {
    const SafetensorsTensor *t = safetensors_find(&r->file, name);
    if (t == NULL || t->type != type) fail_msg("%s has no %s of the right type", r->file.path, name);
    return t;
}

static const double *values(const Reference *r, const char *name) { return tensor(r, name, SAFETENSORS_F64)->data; }

static int *copy_ids(const Reference *r, const char *name, int *count) {
    const SafetensorsTensor *t = tensor(r, name, SAFETENSORS_I32);
    int *ids = memory_alloc((size_t)safetensors_count(t), sizeof *ids, "reference batch");
    memcpy(ids, t->data, (size_t)safetensors_count(t) * sizeof *ids);
    if (count != NULL) *count = (int)safetensors_count(t);
    return ids;
}

static ModelConfig read_config(const Reference *r) {
    const char *tie = text(r, "tie_embeddings");
    return (ModelConfig){.source_vocab = whole(r, "source_vocab"),
                         .target_vocab = whole(r, "target_vocab"),
                         .encoder_width = whole(r, "encoder_d_model"),
                         .decoder_width = whole(r, "decoder_d_model"),
                         .encoder_layers = whole(r, "encoder_layers"),
                         .decoder_layers = whole(r, "decoder_layers"),
                         .heads = whole(r, "heads"),
                         .d_k = whole(r, "d_k"),
                         .d_v = whole(r, "d_v"),
                         .ffn_dim = whole(r, "ffn_dim"),
                         .norm = strcmp(text(r, "norm"), "pre") == 0 ? NORM_PRE : NORM_POST,
                         .activation = strcmp(text(r, "activation"), "gelu") == 0 ? ACTIVATION_GELU : ACTIVATION_RELU,
                         .tie = strcmp(tie, "all") == 0       ? TIE_ALL
                                : strcmp(tie, "decoder") == 0 ? TIE_DECODER
                                                              : TIE_NONE,
                         .qkv_gain = 1};
}

static void reference_read(Reference *r, const char *path) {
    Error error;
    if (!safetensors_read(&r->file, path, &error)) fail_msg("%s", error.text);
    r->config = read_config(r);
    r->smoothing = number(r, "label_smoothing");
    int offsets;
    r->batch = (Batch){.source_ids = copy_ids(r, "source", NULL),
                       .target_in = copy_ids(r, "target_in", NULL),
                       .target_out = copy_ids(r, "target_out", NULL)};
    r->batch.source.offset = copy_ids(r, "source_offsets", &offsets);
    r->batch.target.offset = copy_ids(r, "target_offsets", &offsets);
    r->batch.source.sentences = r->batch.target.sentences = offsets - 1;
    r->batch.index = memory_alloc((size_t)offsets, sizeof *r->batch.index, "reference batch");
}

static void reference_free(Reference *r) {
    small_batch_free(&r->batch);
    safetensors_free(&r->file);
}

/* The file's tensors prefix.NAME in a slab. It must have neither more nor fewer than the table. */
static void read_slab(real *slab, const Reference *r, const ParamTable *table, const char *prefix) {
    int named = 0;
    for (int i = 0; i < r->file.tensors; i++) named += strncmp(r->file.tensor[i].name, prefix, strlen(prefix)) == 0;
    assert_int_equal(named, table->count);
    for (int i = 0; i < table->count; i++) {
        const Param *p = &table->param[i];
        int64_t shape[] = {p->rows, p->cols};
        char name[160];
        Error error;
        snprintf(name, sizeof name, "%s%s", prefix, p->name);
        if (!safetensors_copy(slab + p->offset, &r->file, name, p->rank, p->rank == 1 ? shape + 1 : shape, &error))
            fail_msg("%s", error.text);
    }
}

static bool is_key_bias(const Param *p) { return strstr(p->name, "k_proj.bias") != NULL; }

static double largest(const real *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fabs((double)x[i]) > most ? fabs((double)x[i]) : most;
    return most;
}

static void compare_gradients(const SmallModel *m, const Reference *r) {
    real *right = memory_alloc(m->table.total, sizeof *right, "reference gradient");
    double worst = 0, scale = largest(m->gradients, m->table.total);
    read_slab(right, r, &m->table, "grad.");
    for (int i = 0; i < m->table.count; i++) {
        const Param *p = &m->table.param[i];
        const real *gradient = m->gradients + p->offset;
        double difference = relative_difference(gradient, right + p->offset, param_size(p));
        if (is_key_bias(p)) difference = largest(gradient, param_size(p)) / scale;
        if (!(difference <= TOLERANCE)) print_message("  %s differs by %.1e\n", p->name, difference);
        if (!(difference <= worst)) worst = difference;
    }
    print_message("  gradients of %d tensors, worst %.1e\n", m->table.count, worst);
    assert_below(worst, TOLERANCE);
    memory_free(right);
}

static void compare_logits(SmallModel *m, const Reference *r) {
    size_t count = (size_t)(packed_rows(&r->batch.target) * r->config.target_vocab);
    real *logits = memory_alloc(count, sizeof *logits, "logits");
    real *right = memory_alloc(count, sizeof *right, "logits");
    const double *stored = values(r, "logits");
    for (size_t i = 0; i < count; i++) right[i] = (real)stored[i];
    transformer_logits(logits, &r->batch, &m->p, &m->positions, &m->arena);
    double difference = relative_difference(logits, right, count);
    print_message("  logits, %.1e\n", difference);
    assert_below(difference, TOLERANCE);
    memory_free(logits);
    memory_free(right);
}

static void compare_model(const char *path) {
    Reference r;
    SmallModel m;
    reference_read(&r, path);
    small_model_init(&m, &r.config, 1);
    read_slab(m.parameters, &r, &m.table, "param.");
    print_message("  %s\n", path);
    compare_logits(&m, &r);
    double tokens = packed_rows(&r.batch.target);
    LossSums sums = transformer_gradient(&m.dp, &r.batch, &m.p, &m.positions, r.smoothing, 1 / tokens, NULL, &m.arena);
    assert_near(sums.objective / tokens, values(&r, "loss")[0], TOLERANCE);
    assert_near(sums.nll / tokens, values(&r, "nll")[0], TOLERANCE);
    compare_gradients(&m, &r);
    small_model_free(&m);
    reference_free(&r);
}

static void test_post_relu_tied_all(void **state) {
    (void)state;
    compare_model("tests/reference/post_relu_tied_all.safetensors");
}

static void test_pre_gelu_untied_wide(void **state) {
    (void)state;
    compare_model("tests/reference/pre_gelu_untied_wide.safetensors");
}

static void test_post_gelu_tied_decoder(void **state) {
    (void)state;
    compare_model("tests/reference/post_gelu_tied_decoder.safetensors");
}

/* Training. */

static int by_name(const void *a, const void *b) {
    return strcmp((*(const Param *const *)a)->name, (*(const Param *const *)b)->name);
}

/* sum of p_i cos(i) over all parameters, tensors sorted by name. */
static double checksum(const SmallModel *m) {
    const Param **sorted = memory_alloc((size_t)m->table.count, sizeof *sorted, "sorted names");
    for (int i = 0; i < m->table.count; i++) sorted[i] = &m->table.param[i];
    qsort(sorted, (size_t)m->table.count, sizeof *sorted, by_name);
    double sum = 0, place = 0;
    for (int i = 0; i < m->table.count; i++)
        for (size_t j = 0; j < param_size(sorted[i]); j++)
            sum += (double)m->parameters[sorted[i]->offset + j] * cos(place++);
    memory_free(sorted);
    return sum;
}

/* Update u takes sentences 3u .. 3u+3 mod 12, here as two pieces on two lanes. */
static void take_update(const Reference *r, SmallModel *m, Lanes *lanes, Optimizer *adam, int u) {
    int chosen[4];
    for (int i = 0; i < 4; i++) chosen[i] = (3 * u + i) % r->batch.source.sentences;
    Batch piece[2] = {small_batch_choose(&r->batch, 1, chosen), small_batch_choose(&r->batch, 3, chosen + 1)};
    LossSums sums = lanes_gradient(lanes, piece, 2, &m->p, &m->positions, r->smoothing, NULL);
    double norm = lanes_sum(lanes);
    Config c = {.train = {.lr = number(r, "lr"), .warmup = whole(r, "warmup")}}; /* inverse_sqrt */
    double lr = schedule_lr(&c, 0, u);
    assert_near(sums.objective / (double)sums.tokens, values(r, "loss")[u - 1], TOLERANCE);
    assert_near(norm, values(r, "grad_norm")[u - 1], TOLERANCE);
    assert_near(lr, values(r, "lr")[u - 1], 1e-14);
    optimizer_update(m->parameters, adam, lanes->slab[0], clip_factor(norm, number(r, "clip_norm")), lr, 1);
    /* In float, k_proj.bias moves by rounding noise (its true gradient is 0), which Adam makes as large as lr. */
    if (REAL_IS_DOUBLE) assert_near(checksum(m), values(r, "checksum")[u - 1], 1e-9);
    small_batch_free(&piece[0]);
    small_batch_free(&piece[1]);
}

static void compare_final(const SmallModel *m, const Reference *r) {
    real *right = memory_alloc(m->table.total, sizeof *right, "reference parameters");
    double worst = 0;
    read_slab(right, r, &m->table, "final.");
    for (int i = 0; i < m->table.count; i++) {
        const Param *p = &m->table.param[i];
        if (is_key_bias(p)) continue;
        double difference = relative_difference(m->parameters + p->offset, right + p->offset, param_size(p));
        if (!(difference <= worst)) worst = difference;
    }
    print_message("  parameters after %lld updates, worst %.1e\n", (long long)whole(r, "updates"), worst);
    assert_below(worst, TOLERANCE);
    memory_free(right);
}

static void test_trajectory(void **state) {
    (void)state;
    Reference r;
    SmallModel m;
    Lanes lanes;
    Optimizer adam;
    reference_read(&r, "tests/reference/trajectory.safetensors");
    small_model_init(&m, &r.config, 1);
    read_slab(m.parameters, &r, &m.table, "param.");
    lanes_init(&lanes, &r.config, m.table.total, 2, 2);
    ConfigTrain method = {.adam_beta1 = number(&r, "adam_beta1"),
                          .adam_beta2 = number(&r, "adam_beta2"),
                          .adam_eps = number(&r, "adam_eps")};
    optimizer_init(&adam, &method, &m.table);
    for (int u = 1; u <= whole(&r, "updates"); u++) take_update(&r, &m, &lanes, &adam, u);
    compare_final(&m, &r);
    optimizer_free(&adam);
    lanes_free(&lanes);
    small_model_free(&m);
    reference_free(&r);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post_relu_tied_all),
        cmocka_unit_test(test_pre_gelu_untied_wide),
        cmocka_unit_test(test_post_gelu_tied_decoder),
        cmocka_unit_test(test_trajectory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
