/* The model learns: eight sentences by heart, and copying and reversing what it has never seen. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "decoding/beam.h"
#include "model/matmul.h"
#include "tests/support/small_model.h"
#include "training/lanes.h"
#include "training/optimizer.h"
#include "training/schedule.h"

enum { VOCAB = 14, FIRST_WORD = 4, LONGEST = 8, BATCH = 32 };

static ModelConfig learner_config(int layers) {
    return (ModelConfig){.source_vocab = VOCAB,
                         .target_vocab = VOCAB,
                         .encoder_width = 48,
                         .decoder_width = 48,
                         .encoder_layers = layers,
                         .decoder_layers = layers,
                         .heads = 4,
                         .d_k = 12,
                         .d_v = 12,
                         .ffn_dim = 96,
                         .norm = NORM_PRE,
                         .activation = ACTIVATION_RELU,
                         .tie = TIE_ALL,
                         .qkv_gain = 1};
}

/* What a target word is, given the source words: the task. */
typedef int TargetWord(const int *words, int count, int place);
static int copied(const int *words, int count, int place) { return (void)count, words[place]; }
static int reversed(const int *words, int count, int place) { return words[count - 1 - place]; }

static Batch make_batch(const ModelConfig *config, TargetWord *task, int sentences, uint64_t seed) {
    int length[BATCH] = {0};
    Rng rng = {hash64(seed)};
    for (int s = 0; s < sentences; s++) length[s] = 2 + (int)rng_below(&rng, LONGEST);
    Batch b = small_batch(config, sentences, length, length, seed);
    for (int s = 0; s < sentences; s++) {
        int *x = b.source_ids + b.source.offset[s], *in = b.target_in + b.target.offset[s];
        int *out = b.target_out + b.target.offset[s];
        for (int i = 0; i < length[s] - 1; i++) x[i] = FIRST_WORD + (int)rng_below(&rng, VOCAB - FIRST_WORD);
        for (int i = 0; i < length[s] - 1; i++) out[i] = in[i + 1] = task(x, length[s] - 1, i);
    }
    return b;
}

typedef struct Learner {
    ModelConfig config;
    SmallModel m;
    Lanes lanes;
    Optimizer adam;
} Learner;

static void learner_init(Learner *l, int layers) {
    l->config = learner_config(layers);
    small_model_init(&l->m, &l->config, 1);
    lanes_init(&l->lanes, &l->config, l->m.table.total, 1, 1);
    optimizer_init(&l->adam, &(ConfigTrain){.adam_beta1 = 0.9, .adam_beta2 = 0.98, .adam_eps = 1e-9}, &l->m.table);
}

static void learner_free(Learner *l) {
    small_model_free(&l->m);
    lanes_free(&l->lanes);
    optimizer_free(&l->adam);
}

static double learner_update(Learner *l, const Batch *batch, double smoothing, double lr) {
    LossSums sums = lanes_gradient(&l->lanes, batch, 1, &l->m.p, &l->m.positions, smoothing, NULL);
    double norm = lanes_sum(&l->lanes);
    optimizer_update(l->m.parameters, &l->adam, l->lanes.slab[0], clip_factor(norm, 1), lr, 1);
    return sums.objective / (double)sums.tokens;
}

/* Sentences of a fresh batch whose greedy output is exactly the target. */
static int solved(Learner *l, TargetWord *task, int sentences, uint64_t seed) {
    Batch b = make_batch(&l->config, task, sentences, seed);
    const int banned[] = {ID_BOS, ID_PAD, ID_UNK};
    DecodeLimits limits = {.max_length_factor = 1, .max_length_extra = 5, .banned = banned, .banned_count = 3};
    Hypothesis out[BATCH];
    StepModel model;
    step_model_init(&model, &l->m.p, &l->m.positions);
    beam_decode(out, &model, 1, &(BeamSources){.ids = b.source_ids, .rows = b.source}, &limits,
                &(BeamOptions){.beam_size = 1, .n_best = 1}, &l->m.arena);
    int right = 0;
    for (int s = 0; s < sentences; s++) {
        size_t bytes = (size_t)out[s].count * sizeof(int);
        right += out[s].count == packed_length(&b.target, s) - 1 &&
                 memcmp(out[s].ids, b.target_out + b.target.offset[s], bytes) == 0;
        hypothesis_free(&out[s]);
    }
    step_model_free(&model);
    small_batch_free(&b);
    return right;
}

/* The least possible objective: the entropy of the smoothed target distribution. */
static double smoothing_floor(double eps, int V) {
    double on = 1 - eps + eps / V, off = eps / V;
    return -on * log(on) - (V - 1) * off * log(off);
}

static void test_eight_sentences_by_heart(void **state) {
    (void)state;
    Learner l;
    learner_init(&l, 2);
    Batch b = make_batch(&l.config, reversed, 8, 11);
    Config c = {.train = {.schedule = CONFIG_SCHEDULE_INVERSE_SQRT, .lr = 0.003, .warmup = 40}};
    double loss = 0;
    for (int u = 1; u <= 250; u++) loss = learner_update(&l, &b, 0.1, schedule_lr(&c, 0, u));
    double least = smoothing_floor(0.1, VOCAB);
    print_message("eight sentences: loss %.5f, floor %.5f\n", loss, least);
    assert_true(loss >= least);
    assert_below(loss - least, 0.01);
    small_batch_free(&b);
    learner_free(&l);
}

static void check_task(TargetWord *task, const char *name, int layers, int updates) {
    Learner l;
    learner_init(&l, layers);
    Config c = {.train = {.schedule = CONFIG_SCHEDULE_LINEAR, .lr = 0.005, .warmup = 100, .updates = updates}};
    for (int u = 1; u <= updates; u++) {
        Batch b = make_batch(&l.config, task, BATCH, (uint64_t)u);
        learner_update(&l, &b, 0, schedule_lr(&c, 0, u));
        small_batch_free(&b);
    }
    int right = 0, all = 10 * BATCH;
    for (int i = 0; i < 10; i++) right += solved(&l, task, BATCH, 1000000 + (uint64_t)i);
    print_message("%s: %d of %d unseen sentences\n", name, right, all);
    assert_int_equal(right, all);
    learner_free(&l);
}

static void test_copy(void **state) {
    (void)state;
    check_task(copied, "copy", 1, 1200);
}

static void test_reverse(void **state) {
    (void)state;
    check_task(reversed, "reverse", 2, 2000);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eight_sentences_by_heart),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_reverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
