/* Softmax, layer norm, dropout and the residual connection, each against its definition. */
#include "tests/support/probe.h"

#include "model/residual.h"
#include "model/softmax.h"
#include "model/tile.h"
#include "tests/support/twin.h"

static size_t cells(int N, int D) { return (size_t)N * (size_t)D; }

static void check_softmax(int N, int D, uint64_t seed, Arena *arena) {
    int visible = D, padded = tile_pad(D) + (N % 3) * TILE_COLS;
    double spread = seed % 200   ? 1
                    : seed % 400 ? 40
                                 : 400,
           scale = (double)(real)0.3, most = -(double)INFINITY, e_sum = 0;
    real *x = twin_random(arena, (size_t)padded, seed), *y = twin_output(arena, (size_t)padded);
    TwinSum *e = twin_sums(arena, (size_t)padded), *dx = twin_sums(arena, (size_t)padded), dot = {0, 0};
    for (int j = 0; j < visible; j++) x[j] *= (real)spread;
    for (int j = visible; j < padded; j++) x[j] = j % 2 ? (real)NAN : (real)1e30; /* not to be used */
    for (int j = 0; j < visible; j++) most = fmax((double)x[j], most);
    for (int j = 0; j < visible; j++) e_sum += exp(scale * ((double)x[j] - most));
    for (int j = 0; j < visible; j++) e[j].value = e[j].size = exp(scale * ((double)x[j] - most)) / e_sum;
    softmax_forward(y, x, visible, padded, (real)scale);
    assert_sums(y, e, (size_t)padded, 10 + 3 * spread);

    real *dy = twin_random(arena, (size_t)padded, seed + 1), *fast = twin_output(arena, (size_t)visible);
    for (int j = 0; j < visible; j++) twin_add(&dot, (double)y[j] * (double)dy[j], (double)y[j] * fabs((double)dy[j]));
    for (int j = 0; j < visible; j++)
        twin_add(&dx[j], scale * (double)y[j] * ((double)dy[j] - dot.value),
                 scale * (double)y[j] * (fabs((double)dy[j]) + dot.size));
    softmax_backward(fast, dy, y, visible, (real)scale);
    assert_sums(fast, dx, (size_t)visible, 10);
    softmax_forward(x, x, visible, padded, (real)scale); /* in place: the same bits */
    softmax_backward(dy, dy, y, visible, (real)scale);
    assert_memory_equal(x, y, (size_t)padded * sizeof(real));
    assert_memory_equal(dy, fast, (size_t)visible * sizeof(real));
}

static void test_softmax(void **state) {
    (void)state;
    twin_for_shapes(check_softmax, 200, 67, 400);
    real nothing[TILE_COLS];
    softmax_forward(nothing, nothing, 0, TILE_COLS, 1);
    for (int j = 0; j < TILE_COLS; j++) assert_true(nothing[j] == 0);
}

/* A row normalised. `condition`: how many times its deviation the numbers are large, and so how many times larger than
 * theirs the rounding of xhat is. */
typedef struct Normalised {
    double *xhat, rstd, condition;
} Normalised;

/* xhat = (x - mean) rstd,  rstd = 1 / sqrt(variance + 1e-5) */
static Normalised twin_normalise(const real *x, int D, Arena *arena) {
    double mean = 0, variance = 0, most = 0;
    Normalised r = {.xhat = twin_zeros(arena, (size_t)D)};
    for (int d = 0; d < D; d++) mean += (double)x[d] / D, most = fmax(most, fabs((double)x[d]));
    for (int d = 0; d < D; d++) variance += ((double)x[d] - mean) * ((double)x[d] - mean) / D;
    r.rstd = 1 / sqrt(variance + 1e-5);
    r.condition = 1 + most * r.rstd;
    for (int d = 0; d < D; d++) r.xhat[d] = ((double)x[d] - mean) * r.rstd;
    return r;
}

static void twin_norm_row(TwinSum *y, const real *x, const LayerNorm *p, Arena *arena) {
    Normalised r = twin_normalise(x, p->width, arena);
    for (int d = 0; d < p->width; d++) {
        double w = (double)p->weight[d], b = (double)p->bias[d];
        twin_add(&y[d], w * r.xhat[d] + b, fabs(w) * (1 + fabs(r.xhat[d])) * r.condition + fabs(b));
    }
}

/* dx through the three ways in which x_e moves xhat_d: a full D by D Jacobian, row by row. */
static void twin_norm_row_backward(TwinSum *dx, TwinSum *dweight, TwinSum *dbias, const real *dy, const real *x,
                                   const LayerNorm *p, Arena *arena) {
    int D = p->width;
    Normalised r = twin_normalise(x, D, arena);
    for (int d = 0; d < D; d++) {
        double dy_d = (double)dy[d], g = dy_d * (double)p->weight[d];
        twin_add(&dweight[d], dy_d * r.xhat[d], fabs(dy_d) * (1 + fabs(r.xhat[d])) * r.condition);
        twin_add(&dbias[d], dy_d, fabs(dy_d));
        for (int e = 0; e < D; e++) {
            double jacobian = r.rstd * ((d == e) - 1.0 / D - r.xhat[d] * r.xhat[e] / D);
            double size = r.rstd * ((d == e) + 1.0 / D + fabs(r.xhat[d] * r.xhat[e]) / D);
            twin_add(&dx[e], g * jacobian, fabs(g) * size * r.condition);
        }
    }
}

static LayerNorm random_norm(int D, uint64_t seed, Arena *arena) {
    return (LayerNorm){D, twin_random(arena, (size_t)D, seed), twin_random(arena, (size_t)D, seed + 1)};
}

static void check_layer_norm(int N, int D, uint64_t seed, Arena *arena) {
    LayerNorm p = random_norm(D, seed, arena), dp = random_norm(D, seed + 2, arena);
    real *x = twin_random(arena, cells(N, D), seed + 4), *dy = twin_random(arena, cells(N, D), seed + 5);
    double offset = seed % 200 ? 0 : 10; /* a mean that is large beside the deviation */
    for (size_t i = 0; i < cells(N, D); i++) x[i] = x[i] * (1 + (real)(i / (size_t)D)) + (real)offset;
    real *y = twin_output(arena, cells(N, D)), *dx = twin_output(arena, cells(N, D));
    TwinSum *y_twin = twin_sums(arena, cells(N, D)), *dx_twin = twin_sums(arena, cells(N, D));
    TwinSum *dweight = twin_sums_from(arena, dp.weight, (size_t)D), *dbias = twin_sums_from(arena, dp.bias, (size_t)D);
    for (int n = 0; n < N; n++) {
        ArenaMark mark = arena_mark(arena);
        twin_norm_row(y_twin + n * D, x + n * D, &p, arena);
        twin_norm_row_backward(dx_twin + n * D, dweight, dbias, dy + n * D, x + n * D, &p, arena);
        arena_release(arena, mark);
    }
    LayerNormActs acts;
    layer_norm_forward(y, &acts, x, &p, N, arena);
    layer_norm_backward(dx, &dp, dy, &acts, &p, N);
    double epsilons = 8;
    assert_sums(y, y_twin, cells(N, D), epsilons);
    assert_sums(dx, dx_twin, cells(N, D), epsilons);
    assert_sums(dp.weight, dweight, (size_t)D, epsilons);
    assert_sums(dp.bias, dbias, (size_t)D, epsilons);
    layer_norm_forward(dx, NULL, x, &p, N, NULL);
    assert_memory_equal(dx, y, cells(N, D) * sizeof(real));
}

static void test_layer_norm(void **state) {
    (void)state;
    twin_for_shapes(check_layer_norm, 60, 17, 400);
}

/* Is element f of a row kept? By the definition of model/dropout.h, one element at a time. */
static double twin_mask(const DropoutSite *site, int n, int f) {
    if (!dropout_is_on(site)) return 1;
    uint64_t key = hash64(site->row_key[n] ^ site->place);
    uint32_t hash = hash32(((uint32_t)f * 0x9E3779B9u) ^ (uint32_t)key) ^ (uint32_t)(key >> 32);
    return hash >= site->threshold ? (double)site->scale : 0;
}

static DropoutSite some_dropout(double rate) {
    Dropout drop = probe_dropout(rate);
    return dropout_site(&drop, 1, DROPOUT_FFN_RESIDUAL);
}

static void check_dropout(int N, int D, uint64_t seed, Arena *arena) {
    DropoutSite site = some_dropout(seed % 300 ? 0.3 : 0);
    real *x = twin_random(arena, cells(N, D), seed), *y = twin_output(arena, cells(N, D));
    TwinSum *twin = twin_sums(arena, cells(N, D));
    for (int i = 0; i < N * D; i++) {
        double kept = twin_mask(&site, i / D, i % D) * (double)x[i];
        twin_add(&twin[i], kept, fabs(kept));
    }
    dropout_forward(y, x, N, D, &site);
    assert_sums(y, twin, cells(N, D), 1);
    dropout_backward(x, x, N, D, &site); /* the same mask, in place */
    assert_sums(x, twin, cells(N, D), 1);
}

static void test_dropout(void **state) {
    (void)state;
    twin_for_shapes(check_dropout, 60, 67, 400);
}

/* y = norm(x + m f) (post) or x + m f (pre). */
static void check_residual_forward(const Residual *p, ResidualActs *acts, const real *x, const real *f, int N,
                                   const DropoutSite *drop, Arena *arena) {
    int D = p->norm.width;
    real *sum = twin_output(arena, cells(N, D)), *y = twin_output(arena, cells(N, D));
    TwinSum *twin = twin_sums(arena, cells(N, D));
    for (int i = 0; i < N * D; i++) {
        double kept = twin_mask(drop, i / D, i % D) * (double)f[i];
        twin_add(&twin[i], (double)x[i] + kept, fabs((double)x[i]) + fabs(kept));
        sum[i] = (real)twin[i].value;
    }
    if (p->place == NORM_POST) {
        twin = twin_sums(arena, cells(N, D));
        for (int n = 0; n < N; n++) twin_norm_row(twin + n * D, sum + n * D, &p->norm, arena);
    }
    residual_leave(y, acts, x, f, p, N, drop, arena);
    assert_sums(y, twin, cells(N, D), 8);
}

static void check_residual(int N, int D, uint64_t seed, Arena *arena) {
    Residual p = {random_norm(D, seed, arena), seed % 200 ? NORM_POST : NORM_PRE}, dp = p;
    DropoutSite drop = some_dropout(seed % 300 ? 0.3 : 0);
    real *x = twin_random(arena, cells(N, D), seed + 2), *f = twin_random(arena, cells(N, D), seed + 3);
    ResidualActs acts;
    check_residual_forward(&p, &acts, x, f, N, &drop, arena);

    /* On the way back what is not layer norm: df = m dsum, and where din arrives, dx += din. In pre-norm dsum is dy. */
    real *dx = twin_random(arena, cells(N, D), seed + 4), *df = twin_output(arena, cells(N, D));
    if (p.place == NORM_PRE) {
        TwinSum *df_twin = twin_sums(arena, cells(N, D));
        for (int i = 0; i < N * D; i++) {
            double kept = twin_mask(&drop, i / D, i % D) * (double)dx[i];
            twin_add(&df_twin[i], kept, fabs(kept));
        }
        residual_leave_backward(dx, df, &dp, dx, &acts, &p, N, &drop);
        assert_sums(df, df_twin, cells(N, D), 1);
    } else {
        TwinSum *dx_twin = twin_sums_from(arena, dx, cells(N, D));
        real *din = twin_random(arena, cells(N, D), seed + 5);
        for (int i = 0; i < N * D; i++) twin_add(&dx_twin[i], (double)din[i], fabs((double)din[i]));
        residual_enter_backward(dx, din, &dp, &acts, &p, N);
        assert_sums(dx, dx_twin, cells(N, D), 1);
    }
}

static void test_residual(void **state) {
    (void)state;
    twin_for_shapes(check_residual, 60, 17, 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_layer_norm),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
