/* Decoding with cached keys and values: the logits of the full forward pass, and the same bits in any batch. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/memory.h"
#include "decoding/encode.h"
#include "decoding/step.h"
#include "model/matmul.h"
#include "tests/support/small_model.h"

static const double TIGHT = REAL_IS_DOUBLE ? 1e-11 : 2e-5;

/* The oracle: y = x W' + b in the obvious order. */
static void naive_linear(real *y, const real *x, const Linear *p, int N) {
    for (int n = 0; n < N; n++)
        for (int o = 0; o < p->out; o++) {
            double sum = p->b ? (double)p->b[o] : 0;
            for (int i = 0; i < p->in; i++) sum += (double)x[n * p->in + i] * (double)p->W[o * p->in + i];
            y[n * p->out + o] = (real)sum;
        }
}

static void test_packed_linear(void **state) {
    (void)state;
    const int sizes[][3] = {{1, 1, 1}, {3, 5, 17}, {4, 16, 16}, {7, 33, 31}, {13, 8, 48}, {5, 64, 100}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int N = sizes[i][0], in = sizes[i][1], out = sizes[i][2];
        real *W = memory_alloc((size_t)(in * out), sizeof(real), "W"),
             *b = memory_alloc((size_t)out, sizeof(real), "b");
        real *x = memory_alloc((size_t)(N * in), sizeof(real), "x");
        real *y = memory_alloc((size_t)(N * out), sizeof(real), "y"),
             *right = memory_alloc((size_t)(N * out), sizeof(real), "y");
        probe_random(W, (size_t)(in * out), 1);
        probe_random(b, (size_t)out, 2);
        probe_random(x, (size_t)(N * in), 3);
        Linear p = {in, out, W, i % 2 ? b : NULL};
        PackedLinear packed;
        packed_linear_init(&packed, &p);
        packed_linear_forward(y, x, &packed, N);
        naive_linear(right, x, &p, N);
        assert_below(relative_difference(y, right, (size_t)(N * out)), TIGHT);
        for (int n = 0; n < N; n++) { /* a row alone has the same bits */
            real alone[128];
            packed_linear_forward(alone, x + n * in, &packed, 1);
            assert_memory_equal(alone, y + n * out, (size_t)out * sizeof(real));
        }
        packed_linear_free(&packed);
        memory_free(W), memory_free(b), memory_free(x), memory_free(y), memory_free(right);
    }
}

enum { SENTENCES = 5, LONGEST = 70, WIDTH = 3 };
static const int SOURCE_LENGTHS[SENTENCES] = {4, 1, 19, 6, 3}, TARGET_LENGTHS[SENTENCES] = {7, 3, 5, LONGEST, 1};

/* The slot of sentence s that holds place t of its target: any of its own. */
static int wandering_slot(int s, int t) { return WIDTH * s + (t < 0 ? 0 : (t * t + s) % WIDTH); }

/* Feeds each sentence its own target, in rounds and through all of its slots; it leaves when its target ends. */
static void check_steps(NormPlace norm, TieEmbeddings tie) {
    ModelConfig config = small_config(norm, ACTIVATION_GELU, tie);
    SmallModel m;
    small_model_init(&m, &config, 3);
    small_model_stir(&m, 4);
    Batch batch = small_batch(&config, SENTENCES, SOURCE_LENGTHS, TARGET_LENGTHS, 5);
    int V = config.target_vocab, N = packed_rows(&batch.target);
    real *full = memory_alloc((size_t)(N * V), sizeof(real), "logits"),
         *step = memory_alloc((size_t)(N * V), sizeof(real), "logits");
    transformer_logits(full, &batch, &m.p, &m.positions, &m.arena);

    StepModel model;
    step_model_init(&model, &m.p, &m.positions);
    StepCache cache = step_begin(&model, batch.source_ids, batch.source, WIDTH, LONGEST, &m.arena);
    for (int t = 0; t < LONGEST; t++) {
        int slot[2 * SENTENCES];
        StepToken token[2 * SENTENCES];
        StepRows rows = {0, slot, token};
        for (int s = SENTENCES - 1; s >= 0; s--) { /* in another order than the slots */
            if (t >= TARGET_LENGTHS[s]) continue;
            int id = batch.target_in[batch.target.offset[s] + t], parent = wandering_slot(s, t - 1);
            slot[rows.count] = wandering_slot(s, t);
            token[rows.count++] = (StepToken){id, parent, 0};
            slot[rows.count] = WIDTH * s + (wandering_slot(s, t) + 1) % WIDTH; /* another token, which leads nowhere */
            token[rows.count++] = (StepToken){ID_EOS, parent, 0};
        }
        Logits logits = logits_new(2 * SENTENCES, V, true, &m.arena);
        step_forward(&logits, &cache, &model, &rows, &m.arena);
        for (int r = 0; r < rows.count; r += 2)
            memcpy(step + (batch.target.offset[slot[r] / WIDTH] + t) * V, logits_row(&logits, r),
                   (size_t)V * sizeof(real));
    }
    assert_below(relative_difference(step, full, (size_t)(N * V)), TIGHT);
    step_model_free(&model);
    memory_free(full), memory_free(step);
    small_batch_free(&batch);
    small_model_free(&m);
}

static void test_cached_steps_give_the_full_logits(void **state) {
    (void)state;
    check_steps(NORM_POST, TIE_ALL);
    check_steps(NORM_PRE, TIE_NONE);
    check_steps(NORM_POST, TIE_DECODER);
}

/* The encoder's output is that of encoder_forward, also of a sentence whose queries go in several blocks, and has the
 * same bits alone and together. */
static void check_encoder(NormPlace norm) {
    ModelConfig config = small_config(norm, ACTIVATION_RELU, TIE_NONE);
    SmallModel m;
    small_model_init(&m, &config, 3);
    small_model_stir(&m, 4);
    const int lengths[] = {4, 1, 600, 17, 256};
    Batch batch = small_batch(&config, 5, lengths, lengths, 5);
    int N = packed_rows(&batch.source), D = config.encoder_width;
    real *memory = memory_alloc((size_t)(N * D), sizeof(real), "memory");
    real *alone = memory_alloc((size_t)(N * D), sizeof(real), "memory");
    StepModel model;
    step_model_init(&model, &m.p, &m.positions);
    encode(memory, &model, batch.source_ids, &batch.source, &m.arena);
    EncoderActs acts;
    encoder_forward(&acts, batch.source_ids, &batch.source, &m.p.encoder, &m.positions.source, (Dropout){0}, &m.arena);
    assert_below(relative_difference(memory, acts.memory, (size_t)(N * D)), TIGHT);
    for (int s = 0; s < 5; s++) {
        int offset[2] = {0, lengths[s]}, first = batch.source.offset[s];
        encode(alone, &model, batch.source_ids + first, &(Packed){1, offset}, &m.arena);
        assert_memory_equal(alone, memory + first * D, (size_t)(lengths[s] * D) * sizeof(real));
    }
    step_model_free(&model);
    memory_free(memory), memory_free(alone);
    small_batch_free(&batch);
    small_model_free(&m);
}

static void test_encoder(void **state) {
    (void)state;
    check_encoder(NORM_PRE);
    check_encoder(NORM_POST);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_linear),
        cmocka_unit_test(test_cached_steps_give_the_full_logits),
        cmocka_unit_test(test_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
