/* What must hold of any Transformer, whatever its weights: who can see whom, what may not matter, where it starts. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "model/matmul.h"
#include "tests/support/small_model.h"

static const double TIGHT = REAL_IS_DOUBLE ? 1e-12 : 1e-5;

enum { SENTENCES = 5 };
static const int SOURCE_LENGTHS[SENTENCES] = {4, 1, 19, 6, 2}, TARGET_LENGTHS[SENTENCES] = {7, 3, 5, 21, 1};

typedef struct Fixture {
    ModelConfig config;
    SmallModel m;
    Batch batch;
} Fixture;

static void fixture_init(Fixture *f, NormPlace norm, TieEmbeddings tie) {
    f->config = small_config(norm, ACTIVATION_GELU, tie);
    small_model_init(&f->m, &f->config, 2);
    small_model_stir(&f->m, 3);
    f->batch = small_batch(&f->config, SENTENCES, SOURCE_LENGTHS, TARGET_LENGTHS, 4);
}

static void fixture_free(Fixture *f) {
    small_batch_free(&f->batch);
    small_model_free(&f->m);
}

static real *logits_of(Fixture *f, const Batch *batch) {
    size_t count = (size_t)packed_rows(&batch->target) * (size_t)f->config.target_vocab;
    real *logits = memory_alloc(count, sizeof *logits, "logits");
    transformer_logits(logits, batch, &f->m.p, &f->m.positions, &f->m.arena);
    return logits;
}

/* Another word at place t of the target changes its own row and later ones, and no other bit. */
static void test_no_target_row_sees_the_future(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f, NORM_POST, TIE_ALL);
    size_t V = (size_t)f.config.target_vocab;
    real *before = logits_of(&f, &f.batch);
    for (int s = 0; s < SENTENCES; s++) {
        int start = f.batch.target.offset[s], end = f.batch.target.offset[s + 1];
        for (int n = start; n < end; n++) {
            int *id = &f.batch.target_in[n], old = *id;
            *id = old == ID_UNK ? ID_UNK + 1 : ID_UNK;
            real *after = logits_of(&f, &f.batch);
            *id = old;
            for (int row = 0; row < packed_rows(&f.batch.target); row++) {
                bool same = memcmp(before + (size_t)row * V, after + (size_t)row * V, V * sizeof(real)) == 0;
                assert_true(same == (row < n || row >= end));
            }
            memory_free(after);
        }
    }
    memory_free(before);
    fixture_free(&f);
}

/* Another word of the source changes all rows of its own sentence and no other. */
static void test_every_target_row_sees_its_source(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f, NORM_PRE, TIE_NONE);
    size_t V = (size_t)f.config.target_vocab;
    real *before = logits_of(&f, &f.batch);
    for (int s = 0; s < SENTENCES; s++) {
        for (int n = f.batch.source.offset[s]; n < f.batch.source.offset[s + 1]; n++) {
            int *id = &f.batch.source_ids[n], old = *id;
            *id = ID_UNK;
            real *after = logits_of(&f, &f.batch);
            *id = old;
            for (int row = 0; row < packed_rows(&f.batch.target); row++) {
                bool own = row >= f.batch.target.offset[s] && row < f.batch.target.offset[s + 1];
                bool same = memcmp(before + (size_t)row * V, after + (size_t)row * V, V * sizeof(real)) == 0;
                assert_true(same == !own);
            }
            memory_free(after);
        }
    }
    memory_free(before);
    fixture_free(&f);
}

static void compare_batches(Fixture *f, const real *whole, int count, const int *chosen) {
    Batch part = small_batch_choose(&f->batch, count, chosen);
    real *logits = logits_of(f, &part);
    size_t V = (size_t)f->config.target_vocab;
    for (int s = 0; s < count; s++) {
        const real *alone = logits + (size_t)part.target.offset[s] * V;
        const real *together = whole + (size_t)f->batch.target.offset[chosen[s]] * V;
        size_t size = (size_t)packed_length(&part.target, s) * V;
        assert_below(relative_difference(alone, together, size), TIGHT);
    }
    memory_free(logits);
    small_batch_free(&part);
}

static void test_company_does_not_matter(void **state) {
    (void)state;
    for (int norm = 0; norm < 2; norm++) {
        Fixture f;
        fixture_init(&f, (NormPlace)norm, TIE_DECODER);
        real *whole = logits_of(&f, &f.batch);
        for (int s = 0; s < SENTENCES; s++) compare_batches(&f, whole, 1, &s);
        compare_batches(&f, whole, 3, (const int[]){4, 2, 0});
        compare_batches(&f, whole, 5, (const int[]){3, 4, 0, 1, 2});
        compare_batches(&f, whole, 4, (const int[]){2, 2, 1, 2});
        memory_free(whole);
        fixture_free(&f);
    }
}

static void test_untrained_loss_is_log_of_vocabulary(void **state) {
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        ModelConfig config = small_config((NormPlace)(kind & 1), ACTIVATION_RELU, (TieEmbeddings)(kind >> 1));
        config.source_vocab = config.target_vocab = 1000;
        config.encoder_width = config.decoder_width = 32;
        SmallModel m;
        small_model_init(&m, &config, 7);
        Batch batch = small_batch(&config, SENTENCES, SOURCE_LENGTHS, TARGET_LENGTHS, 8);
        LossSums sums = transformer_loss(NULL, &batch, &m.p, &m.positions, 0.1, NULL, &m.arena);
        double loss = sums.nll / (double)sums.tokens;
        print_message("  untrained loss %.3f, log V %.3f\n", loss, log(1000.0));
        assert_below(fabs(loss - log(1000.0)), 1);
        small_batch_free(&batch);
        small_model_free(&m);
    }
}

/* The loss by chunks of rows against the definition applied to all logits. */
static void test_chunked_loss(void **state) {
    (void)state;
    enum { MANY = 40 };
    const double smoothing = 0.1;
    int source[MANY], target[MANY];
    for (int s = 0; s < MANY; s++) {
        source[s] = 1 + s % 7;
        target[s] = 1 + s % 19;
    }
    Fixture f;
    fixture_init(&f, NORM_PRE, TIE_ALL);
    Batch batch = small_batch(&f.config, MANY, source, target, 9);
    int N = packed_rows(&batch.target), V = f.config.target_vocab;
    assert_true(N > LOSS_CHUNK_ROWS && N % LOSS_CHUNK_ROWS != 0);
    real *logits = logits_of(&f, &batch), *row_nll = memory_alloc((size_t)N, sizeof(real), "losses");
    LossSums sums = transformer_loss(row_nll, &batch, &f.m.p, &f.m.positions, smoothing, NULL, &f.m.arena);
    double objective = 0, nll = 0;
    for (int n = 0; n < N; n++) {
        const real *z = logits + (size_t)n * (size_t)V;
        double sum = 0, mean_log_p = 0;
        for (int v = 0; v < V; v++) sum += exp((double)z[v]);
        for (int v = 0; v < V; v++) mean_log_p += ((double)z[v] - log(sum)) / V;
        double log_p = (double)z[batch.target_out[n]] - log(sum);
        assert_below(fabs((double)row_nll[n] + log_p), TIGHT);
        nll -= log_p;
        objective -= (1 - smoothing) * log_p + smoothing * mean_log_p;
    }
    assert_int_equal(sums.tokens, N);
    assert_near(sums.nll, nll, TIGHT);
    assert_near(sums.objective, objective, TIGHT);
    memory_free(logits);
    memory_free(row_nll);
    small_batch_free(&batch);
    fixture_free(&f);
}

/* With dropout on: its masks belong to sentences, wherever they stand. */
static void test_gradient_of_pieces_adds_up(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f, NORM_POST, TIE_ALL);
    f.m.p.config.dropout = (DropoutRates){0.1, 0.2, 0.15, 0.25, 0.3, 0.35};
    const DropoutDraw draw = {.seed = 1, .update = 2};
    size_t size = f.m.table.total;
    real *whole = memory_alloc(size, sizeof *whole, "gradient");
    LossSums all = transformer_gradient(&f.m.dp, &f.batch, &f.m.p, &f.m.positions, 0.1, 0.1, &draw, &f.m.arena);
    memcpy(whole, f.m.gradients, size * sizeof *whole);
    memset(f.m.gradients, 0, size * sizeof *whole);

    LossSums sums = {0};
    const int first[] = {3}, second[] = {0, 4}, third[] = {2, 1}, *const chosen[] = {first, second, third};
    for (int i = 0; i < 3; i++) {
        Batch piece = small_batch_choose(&f.batch, i == 0 ? 1 : 2, chosen[i]);
        loss_add(&sums, transformer_gradient(&f.m.dp, &piece, &f.m.p, &f.m.positions, 0.1, 0.1, &draw, &f.m.arena));
        small_batch_free(&piece);
    }
    assert_int_equal(sums.tokens, all.tokens);
    assert_near(sums.objective, all.objective, TIGHT);
    assert_near(sums.nll, all.nll, TIGHT);
    assert_below(relative_difference(f.m.gradients, whole, size), TIGHT);
    memory_free(whole);
    fixture_free(&f);
}

static void test_positions(void **state) {
    (void)state;
    const int width[] = {2, 8, 64, 130}, position[] = {0, 1, 5, 1023, 1024, 5000};
    real row[130];
    for (int w = 0; w < 4; w++) {
        for (int p = 0; p < 6; p++) {
            int D = width[w];
            position_row(row, position[p], D);
            for (int j = 0; j < D; j++) {
                int pair = j % (D / 2);
                double angle = position[p] * exp(-log(10000.0) * 2 * pair / D);
                double right = j < D / 2 ? sin(angle) : cos(angle);
                assert_below(fabs((double)row[j] - right), REAL_IS_DOUBLE ? 1e-10 : 1e-7);
            }
        }
    }
    Positions cache;
    positions_init(&cache, 7, 8);
    for (int p = 0; p < 7; p++) {
        position_row(row, p, 8);
        assert_memory_equal(row, cache.table + p * 8, 8 * sizeof(real));
    }
    positions_free(&cache);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_target_row_sees_the_future),
        cmocka_unit_test(test_every_target_row_sees_its_source),
        cmocka_unit_test(test_company_does_not_matter),
        cmocka_unit_test(test_untrained_loss_is_log_of_vocabulary),
        cmocka_unit_test(test_chunked_loss),
        cmocka_unit_test(test_gradient_of_pieces_adds_up),
        cmocka_unit_test(test_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
