/* Activations, linear layers and the embedding, each against its definition. */
#include "tests/support/probe.h"

#include "base/memory.h"
#include "model/activation.h"
#include "model/embedding.h"
#include "model/linear.h"
#include "model/matmul.h"
#include "tests/support/twin.h"

static size_t cells(int N, int D) { return (size_t)N * (size_t)D; }

/* relu' is 0 at 0; gelu(x) = x Phi(x), gelu' = Phi + x phi. */
static void twin_activation(TwinSum *y, TwinSum *slope, double x, Activation kind) {
    if (kind == ACTIVATION_RELU) {
        twin_add(y, x > 0 ? x : 0, 0);
        twin_add(slope, x > 0, 0);
    } else {
        double Phi = 0.5 * (1 + erf(x / sqrt(2.0))), phi = exp(-x * x / 2) / sqrt(2 * acos(-1.0));
        twin_add(y, x * Phi, fabs(x));
        twin_add(slope, Phi + x * phi, 1 + fabs(x) * phi);
    }
}

static void check_activation(int N, int F, uint64_t seed, Arena *arena) {
    Activation kind = seed % 200 ? ACTIVATION_RELU : ACTIVATION_GELU;
    real *x = twin_random(arena, cells(N, F), seed), *dy = twin_random(arena, cells(N, F), seed + 1);
    real *y = twin_output(arena, cells(N, F)), *dx = twin_output(arena, cells(N, F));
    TwinSum *y_twin = twin_sums(arena, cells(N, F)), *dx_twin = twin_sums(arena, cells(N, F));
    for (int i = 0; i < N * F; i += 3) x[i] = i % 2 ? 0 : 3 * x[i];
    for (int i = 0; i < N * F; i++) {
        TwinSum slope = {0, 0};
        twin_activation(&y_twin[i], &slope, (double)x[i], kind);
        twin_add(&dx_twin[i], (double)dy[i] * slope.value, fabs((double)dy[i]) * slope.size);
    }
    activation_forward(y, x, kind, N, F);
    activation_backward(dx, dy, x, kind, N, F);
    assert_sums(y, y_twin, cells(N, F), 4);
    assert_sums(dx, dx_twin, cells(N, F), 4);
    activation_backward(dy, dy, activation_in_place(kind) ? y : x, kind, N, F);
    assert_sums(dy, dx_twin, cells(N, F), 4);
}

static void test_activation(void **state) {
    (void)state;
    twin_for_shapes(check_activation, 60, 67, 400);
}

/* y = x W' + b, and all that follows from it by the chain rule. */
static void twin_linear(TwinSum *y, TwinSum *dx, TwinSum *dW, TwinSum *db, const real *x, const real *dy,
                        const Linear *p, int N) {
    for (int n = 0; n < N; n++) {
        for (int o = 0; o < p->out; o++) {
            double dy_no = (double)dy[n * p->out + o], b = p->b ? (double)p->b[o] : 0;
            twin_add(&y[n * p->out + o], b, fabs(b));
            twin_add(&db[o], dy_no, fabs(dy_no));
            for (int i = 0; i < p->in; i++) {
                double x_ni = (double)x[n * p->in + i], W_oi = (double)p->W[o * p->in + i];
                twin_add(&y[n * p->out + o], x_ni * W_oi, fabs(x_ni * W_oi));
                twin_add(&dx[n * p->in + i], dy_no * W_oi, fabs(dy_no * W_oi));
                twin_add(&dW[o * p->in + i], dy_no * x_ni, fabs(dy_no * x_ni));
            }
        }
    }
}

static void check_linear(int N, int in, uint64_t seed, Arena *arena) {
    Rng rng = {hash64(seed)};
    int out = twin_size(&rng, 97);
    Linear p = {in, out, twin_random(arena, cells(out, in), seed), twin_random(arena, (size_t)out, seed + 1)};
    Linear dp = {in, out, twin_random(arena, cells(out, in), seed + 2), twin_random(arena, (size_t)out, seed + 3)};
    if (seed % 300 == 0) p.b = dp.b = NULL;
    real *x = twin_random(arena, cells(N, in), seed + 4), *dy = twin_random(arena, cells(N, out), seed + 5);
    real *y = twin_output(arena, cells(N, out)), *dx = twin_output(arena, cells(N, in));
    TwinSum *y_twin = twin_sums(arena, cells(N, out)), *dx_twin = twin_sums(arena, cells(N, in));
    TwinSum *dW = twin_sums_from(arena, dp.W, cells(out, in));
    TwinSum *db = dp.b ? twin_sums_from(arena, dp.b, (size_t)out) : twin_sums(arena, (size_t)out);
    twin_linear(y_twin, dx_twin, dW, db, x, dy, &p, N);
    linear_forward(y, x, &p, N);
    linear_backward(dx, &dp, dy, x, &p, N);
    assert_sums(y, y_twin, cells(N, out), 8);
    assert_sums(dx, dx_twin, cells(N, in), 8);
    assert_sums(dp.W, dW, cells(out, in), 8);
    if (dp.b != NULL) assert_sums(dp.b, db, (size_t)out, 8);
}

static void test_linear(void **state) {
    (void)state;
    twin_for_shapes(check_linear, 60, 257, 97);
}

/* x_n = sqrt(D) E[id_n] + position: sines in the first half of the columns, cosines in the second. */
static double twin_position(int pos, int d, int D) {
    int j = d < D / 2 ? d : d - D / 2;
    double angle = pos / pow(10000, 2.0 * j / D);
    return d < D / 2 ? sin(angle) : cos(angle);
}

/* A table of positions that is shorter than the longest sentence, and words that come again. */
static void check_embedding(int N, int half, uint64_t seed, Arena *arena) {
    enum { V = 19 };
    int D = 2 * half, offset[] = {0, N / 2, N}, first = (int)(seed % 300 / 100);
    Packed rows = {2, offset};
    Rng rng = {hash64(seed)};
    int *ids = arena_array(arena, int, "ids", N);
    for (int n = 0; n < N; n++) ids[n] = (int)rng_below(&rng, V);
    Embedding p = {V, D, twin_random(arena, cells(V, D), seed)}, dp = {V, D, twin_random(arena, cells(V, D), seed + 1)};
    real *x = twin_output(arena, cells(N, D)), *dx = twin_random(arena, cells(N, D), seed + 2);
    TwinSum *x_twin = twin_sums(arena, cells(N, D)), *dE = twin_sums_from(arena, dp.E, cells(V, D));
    for (int n = 0; n < N; n++) {
        int pos = first + n - (n < N / 2 ? 0 : N / 2);
        for (int d = 0; d < D; d++) {
            double scaled = sqrt((double)D) * (double)p.E[ids[n] * D + d], position = twin_position(pos, d, D);
            double d_scaled = sqrt((double)D) * (double)dx[n * D + d];
            twin_add(&x_twin[n * D + d], scaled + position, fabs(scaled) + 1);
            twin_add(&dE[ids[n] * D + d], d_scaled, fabs(d_scaled));
        }
    }
    Positions positions;
    positions_init(&positions, 11, D);
    embedding_forward(x, ids, &rows, first, &p, &positions, NULL);
    embedding_backward(&dp, dx, ids, N, NULL);
    positions_free(&positions);
    assert_sums(x, x_twin, cells(N, D), 4);
    assert_sums(dp.E, dE, cells(V, D), 4);
}

static void test_embedding(void **state) {
    (void)state;
    twin_for_shapes(check_embedding, 40, 131, 97);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activation),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_embedding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
