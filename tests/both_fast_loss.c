/* The output layer and loss, which go by chunks of rows and blocks of classes, against their definition. */
#include "tests/support/probe.h"

#include "model/loss.h"
#include "model/matmul.h"
#include "tests/support/twin.h"

static const double SCALE = 0.01;

typedef struct Case {
    int N, D, V;
    double smoothing;
    real *h, *W; /* [N,D], [V,D] */
    int *target; /* [N] */
} Case;

typedef struct Twin {
    TwinSum objective, nll;
    TwinSum *row_nll, *dh, *dW; /* [N], [N,D], [V,D] */
    double most;                /* largest |logit| */
} Twin;

/* l = -sum_v weight_v log p_v,  weight_v = (1-eps) [v = t] + eps/V,  p = softmax(h W'): one row, and its gradients
 * dl/dz_v = p_v - weight_v. */
static void twin_row(Twin *t, const Case *c, int n, double *z) {
    const real *h = c->h + n * c->D;
    double most = -(double)INFINITY, sum = 0, eps = c->smoothing;
    for (int v = 0; v < c->V; v++) {
        z[v] = 0;
        for (int d = 0; d < c->D; d++) z[v] += (double)h[d] * (double)c->W[v * c->D + d];
        most = z[v] > most ? z[v] : most;
        t->most = fabs(z[v]) > t->most ? fabs(z[v]) : t->most;
    }
    for (int v = 0; v < c->V; v++) sum += exp(z[v] - most);
    double log_sum = most + log(sum);
    for (int v = 0; v < c->V; v++) {
        double log_p = z[v] - log_sum, p = exp(log_p), weight = eps / c->V + (v == c->target[n] ? 1 - eps : 0);
        if (v == c->target[n]) twin_add(&t->row_nll[n], -log_p, fabs(z[v]) + fabs(log_sum) + 1);
        twin_add(&t->objective, -weight * log_p, weight * (fabs(z[v]) + fabs(log_sum) + 1));
        for (int d = 0; d < c->D; d++) {
            double h_d = SCALE * (double)h[d], W_d = SCALE * (double)c->W[v * c->D + d];
            twin_add(&t->dh[n * c->D + d], (p - weight) * W_d, (p + weight) * fabs(W_d));
            twin_add(&t->dW[v * c->D + d], (p - weight) * h_d, (p + weight) * fabs(h_d));
        }
    }
    twin_add(&t->nll, t->row_nll[n].value, t->row_nll[n].size);
}

static Twin twin_loss(const Case *c, const real *dW_before, Arena *arena) {
    Twin t = {.row_nll = twin_sums(arena, (size_t)c->N),
              .dh = twin_sums(arena, (size_t)(c->N * c->D)),
              .dW = twin_sums(arena, (size_t)(c->V * c->D))};
    double *z = twin_zeros(arena, (size_t)c->V);
    for (int i = 0; i < c->V * c->D; i++) twin_add(&t.dW[i], (double)dW_before[i], fabs((double)dW_before[i]));
    for (int n = 0; n < c->N; n++) twin_row(&t, c, n, z);
    return t;
}

static void assert_sum(double fast, TwinSum twin, double epsilons) {
    assert_below(fabs(fast - twin.value), epsilons * TWIN_EPS * twin.size);
}

static void check(const Case *c, Arena *arena) {
    size_t h_size = (size_t)(c->N * c->D), W_size = (size_t)(c->V * c->D);
    int most = c->N < LOSS_CHUNK_ROWS ? c->N : LOSS_CHUNK_ROWS;
    real *row_nll = twin_output(arena, (size_t)c->N), *dh = twin_output(arena, h_size);
    real *dW = twin_random(arena, W_size, 99);
    for (size_t i = 0; i < W_size; i++) dW[i] *= (real)0.01;
    Twin t = twin_loss(c, dW, arena);

    Linear output = {.in = c->D, .out = c->V, .W = c->W}, doutput = {.in = c->D, .out = c->V, .W = dW};
    LossActs acts = loss_acts(most, c->V, arena);
    LossSums sums = {0}, without_rows = {0};
    for (int n = 0; n < c->N; n += most) {
        int C = c->N - n < most ? c->N - n : most;
        const real *h = c->h + n * c->D;
        loss_forward(&without_rows, NULL, &acts, h, c->target + n, &output, c->smoothing, C);
        loss_forward(&sums, row_nll + n, &acts, h, c->target + n, &output, c->smoothing, C);
        loss_backward(dh + n * c->D, &doutput, &acts, h, c->target + n, &output, c->smoothing, SCALE, C);
    }
    /* An error of a logit is an equal relative error of its exponential. */
    double epsilons = 30 + 3 * t.most;
    assert_int_equal(sums.tokens, c->N);
    assert_memory_equal(&sums, &without_rows, sizeof sums);
    assert_sum(sums.objective, t.objective, 30);
    assert_sum(sums.nll, t.nll, 30);
    assert_sums(row_nll, t.row_nll, (size_t)c->N, 30);
    assert_sums(dh, t.dh, h_size, epsilons);
    assert_sums(dW, t.dW, W_size, epsilons);
}

static Case case_of(int N, int D, int V, double smoothing, uint64_t seed, Arena *arena) {
    Case c = {.N = N, .D = D, .V = V, .smoothing = smoothing};
    Rng rng = {hash64(seed)};
    c.h = twin_random(arena, (size_t)(N * D), seed + 1);
    c.W = twin_random(arena, (size_t)(V * D), seed + 2);
    c.target = arena_array(arena, int, "targets", N);
    for (int n = 0; n < N; n++) c.target[n] = (int)rng_below(&rng, (uint64_t)V);
    return c;
}

static void test_random_shapes(void **state) {
    (void)state;
    static const int classes[] = {1, 2, 13, 16, LOSS_BLOCK - 1, LOSS_BLOCK, LOSS_BLOCK + 1, 2 * LOSS_BLOCK, 1031, 1700};
    Arena arena;
    Rng rng = {hash64(1)};
    arena_init(&arena, "test");
    for (uint64_t round = 0; round < 60; round++) {
        ArenaMark mark = arena_mark(&arena);
        int V = classes[rng_below(&rng, sizeof classes / sizeof *classes)];
        Case c = case_of(twin_size(&rng, 33), twin_size(&rng, 17), V, round % 2 ? 0.1 : 0, round, &arena);
        c.target[0] = round % 3 ? V - 1 : 0;
        check(&c, &arena);
        arena_release(&arena, mark);
    }
    arena_free(&arena);
}

static void test_several_chunks(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, "test");
    for (int i = 0; i < 3; i++) {
        Case c = case_of(LOSS_CHUNK_ROWS * i + (i == 1 ? 0 : 37), 6, LOSS_BLOCK + 88, 0.1, 5, &arena);
        check(&c, &arena);
    }
    arena_free(&arena);
}

/* Logits whose largest stands in a block of its own: z_v = height of v's block, and a little of its own. */
static void check_heights(const double *height, int blocks, double smoothing, Arena *arena) {
    Case c = case_of(11, 3, (blocks - 1) * LOSS_BLOCK + 77, smoothing, 7, arena);
    for (int n = 0; n < c.N; n++) c.h[n * c.D] = 1;
    for (int v = 0; v < c.V; v++) c.W[v * c.D] = (real)height[v / LOSS_BLOCK];
    for (int n = 0; n < c.N && n < blocks; n++) c.target[n] = n * LOSS_BLOCK + 5;
    check(&c, arena);
}

static void test_extreme_logits(void **state) {
    (void)state;
    static const double heights[][4] = {
        {-80, 0, 80, 0},     {80, 0, -80, 0},  {-80, 80, -80, 80},   {80, -80, 80, -80}, {0, 30, 60, 90},
        {-80, -80, -80, 80}, {80, 80, 80, 80}, {-80, -80, -80, -80}, {0, 500, 20, 500},  {-1000, 0, 1000, 1}};
    Arena arena;
    arena_init(&arena, "test");
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
        for (int smoothed = 0; smoothed < 2; smoothed++) check_heights(heights[i], 4, smoothed ? 0.1 : 0, &arena);
    arena_free(&arena);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_several_chunks),
        cmocka_unit_test(test_extreme_logits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
