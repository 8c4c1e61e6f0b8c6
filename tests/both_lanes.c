/* Pieces and lanes: the sum over them is the gradient of the whole batch, and threads change no bit. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/memory.h"
#include "model/matmul.h"
#include "tests/support/small_model.h"
#include "training/lanes.h"

static const double TIGHT = REAL_IS_DOUBLE ? 1e-12 : 1e-5;
static const DropoutDraw DRAW = {.seed = 1, .update = 2};
static const double SMOOTHING = 0.1;

/* A model of some 90,000 parameters (several blocks of the sum), a batch, and its pieces. */
enum { SENTENCES = 11, PIECES = 5 };
typedef struct Fixture {
    ModelConfig config;
    SmallModel m;
    Batch batch, piece[PIECES];
} Fixture;

static void fixture_init(Fixture *f) {
    const int source[SENTENCES] = {4, 1, 19, 6, 2, 5, 5, 8, 3, 1, 12};
    const int target[SENTENCES] = {7, 3, 5, 21, 1, 9, 4, 2, 14, 6, 3};
    const int size[PIECES] = {3, 1, 4, 2, 1};
    f->config = small_config(NORM_POST, ACTIVATION_RELU, TIE_ALL);
    f->config.encoder_width = f->config.decoder_width = 48;
    f->config.ffn_dim = 200;
    f->config.dropout = (DropoutRates){0.1, 0.2, 0.15, 0.25, 0.3, 0.35};
    small_model_init(&f->m, &f->config, 2);
    f->batch = small_batch(&f->config, SENTENCES, source, target, 4);
    for (int i = 0, first = 0; i < PIECES; first += size[i++]) {
        int chosen[SENTENCES];
        for (int s = 0; s < size[i]; s++) chosen[s] = first + s;
        f->piece[i] = small_batch_choose(&f->batch, size[i], chosen);
    }
}

static void fixture_free(Fixture *f) {
    for (int i = 0; i < PIECES; i++) small_batch_free(&f->piece[i]);
    small_batch_free(&f->batch);
    small_model_free(&f->m);
}

typedef struct Outcome {
    real *gradient;
    double norm;
    LossSums sums;
} Outcome;

static Outcome run(const Fixture *f, int lanes, int threads) {
    Lanes l;
    Outcome o;
    lanes_init(&l, &f->config, f->m.table.total, lanes, threads);
    for (int twice = 0; twice < 2; twice++) { /* the slabs are overwritten */
        o.sums = lanes_gradient(&l, f->piece, PIECES, &f->m.p, &f->m.positions, SMOOTHING, &DRAW);
        o.norm = lanes_sum(&l);
    }
    o.gradient = memory_alloc(l.size, sizeof(real), "gradient");
    memcpy(o.gradient, l.slab[0], l.size * sizeof(real));
    lanes_free(&l);
    return o;
}

static void test_lanes_add_up(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f);
    double scale = 1.0 / packed_rows(&f.batch.target);
    LossSums whole =
        transformer_gradient(&f.m.dp, &f.batch, &f.m.p, &f.m.positions, SMOOTHING, scale, &DRAW, &f.m.arena);
    double squares = 0;
    for (size_t i = 0; i < f.m.table.total; i++) squares += pow((double)f.m.gradients[i], 2);
    for (int lanes = 1; lanes <= 7; lanes++) {
        Outcome o = run(&f, lanes, 2);
        assert_int_equal(o.sums.tokens, whole.tokens);
        assert_near(o.sums.objective, whole.objective, TIGHT);
        assert_near(o.sums.nll, whole.nll, TIGHT);
        assert_near(o.norm, sqrt(squares), TIGHT);
        assert_below(relative_difference(o.gradient, f.m.gradients, f.m.table.total), TIGHT);
        memory_free(o.gradient);
    }
    fixture_free(&f);
}

static void test_threads_change_no_bit(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f);
    for (int lanes = 1; lanes <= 4; lanes++) {
        Outcome one = run(&f, lanes, 1);
        for (int threads = 2; threads <= 4; threads++) {
            Outcome more = run(&f, lanes, threads);
            assert_memory_equal(one.gradient, more.gradient, f.m.table.total * sizeof(real));
            assert_memory_equal(&one.norm, &more.norm, sizeof one.norm);
            assert_memory_equal(&one.sums.objective, &more.sums.objective, sizeof one.sums.objective);
            assert_memory_equal(&one.sums.nll, &more.sums.nll, sizeof one.sums.nll);
            memory_free(more.gradient);
        }
        memory_free(one.gradient);
    }
    fixture_free(&f);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_add_up),
        cmocka_unit_test(test_threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
