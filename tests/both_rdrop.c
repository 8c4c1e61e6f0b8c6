/* R-Drop: the loss that goes by chunks and blocks against the paper's definition, and what two passes mean for a model. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/memory.h"
#include "model/matmul.h"
#include "model/rdrop.h"
#include "tests/support/small_model.h"
#include "tests/support/twin.h"
#include "training/lanes.h"

static const double SCALE = 0.01, TIGHT = REAL_IS_DOUBLE ? 1e-12 : 1e-5;

typedef struct Case {
    int N, D, V;
    double smoothing, alpha;
    real *h[2], *W; /* [N,D] each, [V,D] */
    int *target;    /* [N] */
} Case;

typedef struct Twin {
    TwinSum objective, nll;
    TwinSum *dh[2], *dW; /* [N,D] each, [V,D] */
    double most;         /* largest |logit| */
} Twin;

/* One row of one pass: logits and log-probabilities. */
static void log_softmax(double *z, double *log_p, Twin *t, const real *h, const Case *c) {
    double most = -(double)INFINITY, sum = 0;
    for (int v = 0; v < c->V; v++) {
        z[v] = 0;
        for (int d = 0; d < c->D; d++) z[v] += (double)h[d] * (double)c->W[v * c->D + d];
        most = fmax(most, z[v]);
        t->most = fmax(t->most, fabs(z[v]));
    }
    for (int v = 0; v < c->V; v++) sum += exp(z[v] - most);
    for (int v = 0; v < c->V; v++) log_p[v] = z[v] - most - log(sum);
}

/* KL(p||q), as defined. */
static double divergence(const double *log_p, const double *log_q, int V) {
    double sum = 0;
    for (int v = 0; v < V; v++) sum += exp(log_p[v]) * (log_p[v] - log_q[v]);
    return sum;
}

/* Half of what the paper has: (l1 + l2 + alpha/2 (KL12 + KL21)) / 2. With respect to the logits of p,
 * dKL(p||q) = p_v (log p_v - log q_v - KL(p||q)) and dKL(q||p) = p_v - q_v. */
static void twin_row(Twin *t, const Case *c, int n, double *const z[2], double *const log_p[2]) {
    int V = c->V, D = c->D;
    double kl[2], gap[2] = {0}, eps = c->smoothing, pull = c->alpha / 4;
    for (int i = 0; i < 2; i++) log_softmax(z[i], log_p[i], t, c->h[i] + n * D, c);
    for (int i = 0; i < 2; i++) kl[i] = divergence(log_p[i], log_p[1 - i], V);
    for (int i = 0; i < 2; i++)
        for (int v = 0; v < V; v++) gap[i] += exp(log_p[i][v]) * fabs(z[0][v] - z[1][v]);
    for (int i = 0; i < 2; i++) {
        twin_add(&t->objective, pull * kl[i], 0);
        for (int v = 0; v < V; v++) {
            double p = exp(log_p[i][v]), q = exp(log_p[1 - i][v]), ratio = log_p[i][v] - log_p[1 - i][v];
            double weight = eps / V + (v == c->target[n] ? 1 - eps : 0), g = fabs(z[0][v] - z[1][v]);
            double size = fabs(z[i][v]) + fabs(z[i][v] - log_p[i][v]) + 1;
            if (v == c->target[n]) twin_add(&t->nll, -log_p[i][v] / 2, size / 2);
            twin_add(&t->objective, -weight * log_p[i][v] / 2, weight * size / 2 + pull * p * (g + gap[i] + 1) * size);
            double dz = (p - weight) / 2 + pull * (p * (ratio - kl[i]) + p - q);
            double dz_size = (p + weight) / 2 + pull * (p * (g + gap[i] + 1) + q);
            for (int d = 0; d < D; d++) {
                double h_d = SCALE * (double)c->h[i][n * D + d], W_d = SCALE * (double)c->W[v * D + d];
                twin_add(&t->dh[i][n * D + d], dz * W_d, dz_size * fabs(W_d));
                twin_add(&t->dW[v * D + d], dz * h_d, dz_size * fabs(h_d));
            }
        }
    }
}

static Twin twin_rdrop(const Case *c, const real *dW_before, Arena *arena) {
    size_t h_size = (size_t)(c->N * c->D);
    Twin t = {.dh = {twin_sums(arena, h_size), twin_sums(arena, h_size)},
              .dW = twin_sums_from(arena, dW_before, (size_t)(c->V * c->D))};
    double *z[2], *log_p[2];
    for (int i = 0; i < 2; i++) {
        z[i] = twin_zeros(arena, (size_t)c->V);
        log_p[i] = twin_zeros(arena, (size_t)c->V);
    }
    for (int n = 0; n < c->N; n++) twin_row(&t, c, n, z, log_p);
    return t;
}

static void assert_sum(double fast, TwinSum twin, double epsilons) {
    assert_below(fabs(fast - twin.value), epsilons * TWIN_EPS * twin.size);
}

static void check(const Case *c, int chunk, Arena *arena) {
    size_t h_size = (size_t)(c->N * c->D), W_size = (size_t)(c->V * c->D);
    real *dh[2] = {twin_output(arena, h_size), twin_output(arena, h_size)}, *dW = twin_random(arena, W_size, 99);
    for (size_t i = 0; i < W_size; i++) dW[i] *= (real)0.01;
    Twin t = twin_rdrop(c, dW, arena);

    Linear output = {.in = c->D, .out = c->V, .W = c->W}, doutput = {.in = c->D, .out = c->V, .W = dW};
    RDropActs acts = rdrop_acts(chunk, c->V, arena);
    LossSums sums = {0};
    for (int n = 0; n < c->N; n += chunk) {
        int C = c->N - n < chunk ? c->N - n : chunk;
        const real *h_n[2] = {c->h[0] + n * c->D, c->h[1] + n * c->D};
        real *dh_n[2] = {dh[0] + n * c->D, dh[1] + n * c->D};
        rdrop_forward(&sums, &acts, h_n, c->target + n, &output, c->smoothing, c->alpha, C);
        rdrop_backward(dh_n, &doutput, &acts, h_n, c->target + n, &output, c->smoothing, c->alpha, SCALE, C);
    }
    /* An error of a logit is an equal relative error of its exponential. */
    double epsilons = 30 + 3 * t.most;
    assert_int_equal(sums.tokens, c->N);
    assert_sum(sums.objective, t.objective, 30);
    assert_sum(sums.nll, t.nll, 30);
    for (int i = 0; i < 2; i++) assert_sums(dh[i], t.dh[i], h_size, epsilons);
    assert_sums(dW, t.dW, W_size, epsilons);
}

static Case case_of(int N, int D, int V, double smoothing, double alpha, uint64_t seed, Arena *arena) {
    Case c = {.N = N, .D = D, .V = V, .smoothing = smoothing, .alpha = alpha};
    Rng rng = {hash64(seed)};
    for (int i = 0; i < 2; i++) c.h[i] = twin_random(arena, (size_t)(N * D), seed + 1 + (uint64_t)i);
    c.W = twin_random(arena, (size_t)(V * D), seed + 3);
    c.target = arena_array(arena, int, "targets", N);
    for (int n = 0; n < N; n++) c.target[n] = (int)rng_below(&rng, (uint64_t)V);
    return c;
}

static void test_random_shapes(void **state) {
    (void)state;
    static const int classes[] = {1, 2, 13, 16, LOSS_BLOCK - 1, LOSS_BLOCK, LOSS_BLOCK + 1, 1700};
    static const double alphas[] = {0, 1, 5, 100};
    Rng rng = {hash64(3)};
    Arena arena;
    arena_init(&arena, "test");
    for (int i = 0; i < 64; i++) {
        ArenaMark mark = arena_mark(&arena);
        Case c = case_of(twin_size(&rng, 40), twin_size(&rng, 20), classes[i % 8], i % 3 ? 0.1 : 0, alphas[i / 8 % 4],
                         (uint64_t)i, &arena);
        check(&c, 1 + (int)rng_below(&rng, (uint64_t)c.N), &arena);
        arena_release(&arena, mark);
    }
    arena_free(&arena);
}

/* The passes' largest logits stand in different blocks, far above or below all others. */
static void test_extreme_logits(void **state) {
    (void)state;
    static const double heights[][2][3] = {{{-80, 0, 80}, {80, 0, -80}},      {{0, 30, 60}, {60, 30, 0}},
                                           {{-1000, 0, 1000}, {1000, 0, -1}}, {{80, 80, 80}, {-80, -80, -80}},
                                           {{500, 0, 0}, {500, 0, 0}},        {{0, 0, 0}, {0, 200, 0}}};
    Arena arena;
    arena_init(&arena, "test");
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        Case c = case_of(7, 4, 2 * LOSS_BLOCK + 77, i % 2 ? 0.1 : 0, 5, i, &arena);
        for (int n = 0; n < c.N; n++)
            for (int d = 0; d < 2; d++) c.h[0][n * c.D + d] = d == 0, c.h[1][n * c.D + d] = d == 1;
        for (int v = 0; v < c.V; v++)
            for (int d = 0; d < 2; d++) c.W[v * c.D + d] = (real)heights[i][d][v / LOSS_BLOCK];
        check(&c, 4, &arena);
    }
    arena_free(&arena);
}

/* The same states in both passes: however large alpha is, nothing is added to the mean of the two losses. */
static void test_equal_passes_have_no_divergence(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, "test");
    Case c = case_of(9, 5, LOSS_BLOCK + 9, 0.1, 0, 8, &arena);
    Linear output = {.in = c.D, .out = c.V, .W = c.W};
    RDropActs acts = rdrop_acts(c.N, c.V, &arena);
    LossActs plain_acts = loss_acts(c.N, c.V, &arena);
    LossSums without = {0}, with = {0}, plain = {0};
    const real *h[2] = {c.h[0], c.h[0]};
    rdrop_forward(&without, &acts, h, c.target, &output, 0.1, 0, c.N);
    rdrop_forward(&with, &acts, h, c.target, &output, 0.1, 1e6, c.N);
    loss_forward(&plain, NULL, &plain_acts, c.h[0], c.target, &output, 0.1, c.N);
    assert_true(with.objective == without.objective && with.nll == without.nll);
    assert_near(with.objective, plain.objective, TIGHT);
    assert_near(with.nll, plain.nll, TIGHT);
    arena_free(&arena);
}

/* Models. */

static const double SMOOTHING = 0.1;
static const DropoutDraw DRAW = {.seed = 1, .update = 2};

enum { SENTENCES = 5, PIECES = 3 };
typedef struct Fixture {
    ModelConfig config;
    SmallModel m;
    Batch batch, piece[PIECES];
} Fixture;

static void fixture_init(Fixture *f) {
    const int source[SENTENCES] = {4, 1, 19, 6, 2}, target[SENTENCES] = {150, 3, 105, 90, 9};
    const int chosen[PIECES][2] = {{0, 1}, {2, 3}, {4}};
    f->config = small_config(NORM_PRE, ACTIVATION_RELU, TIE_DECODER);
    f->config.dropout = (DropoutRates){0.1, 0.2, 0.15, 0.25, 0.2, 0.3};
    small_model_init(&f->m, &f->config, 2);
    f->batch = small_batch(&f->config, SENTENCES, source, target, 4);
    for (int i = 0; i < PIECES; i++) f->piece[i] = small_batch_choose(&f->batch, i < 2 ? 2 : 1, chosen[i]);
}

static void fixture_free(Fixture *f) {
    for (int i = 0; i < PIECES; i++) small_batch_free(&f->piece[i]);
    small_batch_free(&f->batch);
    small_model_free(&f->m);
}

static LossSums rdrop_gradient(Fixture *f, double alpha, const DropoutDraw *draw) {
    memset(f->m.gradients, 0, f->m.table.total * sizeof(real));
    return transformer_rdrop_gradient(&f->m.dp, &f->batch, &f->m.p, &f->m.positions, SMOOTHING, alpha, 0.1, draw,
                                      &f->m.arena);
}

static real *copy_of(const Fixture *f) {
    size_t size = f->m.table.total * sizeof(real);
    return memcpy(memory_alloc(f->m.table.total, sizeof(real), "gradient"), f->m.gradients, size);
}

/* With alpha 0 it is the mean over dropout copies 0 and 1: of the losses and of the gradients. With alpha it is not. */
static void test_alpha_0_is_the_mean_of_two_passes(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f);
    LossSums pair = rdrop_gradient(&f, 0, &DRAW), mean = {0}, single[2];
    real *gradient = copy_of(&f);
    memset(f.m.gradients, 0, f.m.table.total * sizeof(real));
    for (int copy = 0; copy < 2; copy++) {
        DropoutDraw draw = DRAW;
        draw.copy = copy;
        single[copy] =
            transformer_gradient(&f.m.dp, &f.batch, &f.m.p, &f.m.positions, SMOOTHING, 0.05, &draw, &f.m.arena);
        mean.objective += single[copy].objective / 2;
        mean.nll += single[copy].nll / 2;
    }
    assert_true(fabs(single[0].nll - single[1].nll) > 1e-3);
    assert_int_equal(pair.tokens, packed_rows(&f.batch.target));
    assert_near(pair.objective, mean.objective, TIGHT);
    assert_near(pair.nll, mean.nll, TIGHT);
    assert_below(relative_difference(gradient, f.m.gradients, f.m.table.total), TIGHT);
    LossSums pulled = rdrop_gradient(&f, 5, &DRAW);
    assert_true(pulled.nll == pair.nll && pulled.objective > pair.objective + 0.01);
    assert_true(relative_difference(gradient, f.m.gradients, f.m.table.total) > 1e-3);
    memory_free(gradient);
    fixture_free(&f);
}

/* Without rates both passes are one and the same, and the objective is the plain one. */
static void test_without_dropout(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f);
    f.m.p.config.dropout = (DropoutRates){0};
    LossSums pair = rdrop_gradient(&f, 5, &DRAW);
    LossSums plain = transformer_loss(NULL, &f.batch, &f.m.p, &f.m.positions, SMOOTHING, &DRAW, &f.m.arena);
    assert_near(pair.objective, plain.objective, TIGHT);
    assert_near(pair.nll, plain.nll, TIGHT);
    fixture_free(&f);
}

/* Pieces and lanes add up to the gradient of the whole batch, which takes several chunks of the output layer; threads
 * change no bit. */
static void test_lanes(void **state) {
    (void)state;
    Fixture f;
    fixture_init(&f);
    double tokens = packed_rows(&f.batch.target);
    assert_true(tokens > LOSS_CHUNK_ROWS);
    memset(f.m.gradients, 0, f.m.table.total * sizeof(real));
    LossSums whole = transformer_rdrop_gradient(&f.m.dp, &f.batch, &f.m.p, &f.m.positions, SMOOTHING, 5, 1 / tokens,
                                                &DRAW, &f.m.arena);
    for (int lanes = 1; lanes <= 3; lanes++) {
        real *first = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            Lanes l;
            lanes_init(&l, &f.config, f.m.table.total, lanes, threads);
            l.rdrop = 5;
            LossSums sums = lanes_gradient(&l, f.piece, PIECES, &f.m.p, &f.m.positions, SMOOTHING, &DRAW);
            lanes_sum(&l);
            assert_near(sums.objective, whole.objective, TIGHT);
            assert_near(sums.nll, whole.nll, TIGHT);
            assert_below(relative_difference(l.slab[0], f.m.gradients, f.m.table.total), TIGHT);
            size_t size = f.m.table.total * sizeof(real);
            if (first == NULL) first = memcpy(memory_alloc(f.m.table.total, sizeof(real), "gradient"), l.slab[0], size);
            assert_memory_equal(first, l.slab[0], size);
            lanes_free(&l);
        }
        memory_free(first);
    }
    fixture_free(&f);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_extreme_logits),
        cmocka_unit_test(test_equal_passes_have_no_divergence),
        cmocka_unit_test(test_alpha_0_is_the_mean_of_two_passes),
        cmocka_unit_test(test_without_dropout),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
