/* The small matrix products, exp and vector functions against naive twins. */
#include "tests/support/probe.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/vec.h"
#include "model/tile.h"

static const double TOLERANCE = REAL_IS_DOUBLE ? 1e-14 : 1e-5;
static const real UNTOUCHED = 77;

static real *random_reals(size_t count, uint64_t seed) {
    real *x = memory_alloc(count, sizeof(real), "test");
    probe_random(x, count, seed);
    return x;
}

/* C = A B with A [m,k] read by rows (stride lda) or by columns, all rows longer than need be. */
static void check_matmul(int m, int n, int k, bool transposed, int spare, uint64_t seed) {
    int ldc = n + spare, ldb = n + 2 * spare, a_row = transposed ? 1 : k + spare, a_col = transposed ? m + spare : 1;
    size_t a_size = (size_t)(m * a_row + k * a_col), b_size = (size_t)(k * ldb), c_size = (size_t)(m * ldc);
    real *A = random_reals(a_size, seed), *B = random_reals(b_size, seed + 1), *C = random_reals(c_size, seed);
    vec_fill(C, UNTOUCHED, (int)c_size);
    tile_matmul(C, ldc, A, a_row, a_col, B, ldb, m, n, k);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < ldc; j++) {
            double sum = 0, size = 0;
            for (int l = 0; l < k && j < n; l++) {
                double product = (double)A[i * a_row + l * a_col] * (double)B[l * ldb + j];
                sum += product;
                size += fabs(product);
            }
            if (j >= n) assert_true(C[i * ldc + j] == UNTOUCHED);
            if (j < n) assert_below(fabs((double)C[i * ldc + j] - sum), TOLERANCE * size);
        }
    }
    memory_free(A);
    memory_free(B);
    memory_free(C);
}

static void test_tile_matmul(void **state) {
    (void)state;
    const int size[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 37, 67};
    enum { SIZES = sizeof size / sizeof *size };
    Rng rng = {hash64(1)};
    for (int round = 0; round < 400; round++) {
        int m = size[rng_below(&rng, SIZES)], n = size[rng_below(&rng, SIZES)], k = size[rng_below(&rng, SIZES)];
        check_matmul(m, n, k, round & 1, round % 3, (uint64_t)round);
    }
    check_matmul(5, 19, 0, false, 1, 1); /* an empty sum is zero */
}

/* The promise that a row's value does not depend on how many rows there are. */
static void test_tile_matmul_rows_are_independent(void **state) {
    (void)state;
    enum { M = 11, N = 35, K = 19 };
    real *A = random_reals(M * K, 1), *B = random_reals(K * N, 2);
    real *all = random_reals(M * N, 3), *some = random_reals(M * N, 4);
    tile_matmul(all, N, A, K, 1, B, N, M, N, K);
    for (int m = 1; m < M; m++) {
        tile_matmul(some, N, A, K, 1, B, N, m, N, K);
        assert_memory_equal(all, some, (size_t)(m * N) * sizeof(real));
    }
    memory_free(A);
    memory_free(B);
    memory_free(all);
    memory_free(some);
}

static void test_tile_transpose(void **state) {
    (void)state;
    for (int rows = 1; rows < 36; rows += 3) {
        for (int cols = 1; cols < 20; cols += 2) {
            int ldx = cols + rows % 4, ldt = rows % 2 ? tile_pad(rows) : rows;
            real *X = random_reals((size_t)(rows * ldx), 1), *T = random_reals((size_t)(cols * ldt), 2);
            tile_transpose(T, ldt, X, ldx, rows, cols);
            for (int c = 0; c < cols; c++)
                for (int r = 0; r < ldt; r++) assert_true(T[c * ldt + r] == (r < rows ? X[r * ldx + c] : 0));
            memory_free(X);
            memory_free(T);
        }
    }
    assert_int_equal(tile_pad(1), TILE_COLS);
    assert_int_equal(tile_pad(TILE_COLS), TILE_COLS);
    assert_int_equal(tile_pad(TILE_COLS + 1), 2 * TILE_COLS);
}

static double exp_error(double x) {
    real rounded = (real)x;
    double right = (exp)((double)rounded);
    return fabs((double)real_exp(rounded) - right) / right;
}

static void test_exp(void **state) {
    (void)state;
    double worst = 0, least = -87, most = REAL_IS_DOUBLE ? 300 : 88;
    Rng rng = {hash64(3)};
    for (int i = 0; i <= 400000; i++) {
        double even = exp_error(least + (most - least) * i / 400000);
        double small = exp_error(4 * rng_uniform(&rng) - 2);
        if (!(even <= worst)) worst = even;
        if (!(small <= worst)) worst = small;
    }
    print_message("  exp: largest relative error %.2e\n", worst);
    assert_below(worst, REAL_IS_DOUBLE ? 1e-15 : 2e-7);
    assert_true(real_exp(0) == 1);
    /* Softmax shifts by the maximum, so arguments go far down: there e^x has to be harmless, not exact. */
    const real low[] = {-88, -100, -1e4, -1e30, (real)-INFINITY};
    for (int i = 0; i < 5; i++) {
        assert_true(real_exp(low[i]) >= 0);
        assert_below((double)real_exp(low[i]), 2e-38);
    }
}

static void check_vectors(int n) {
    size_t size = (size_t)n + 1;
    real *x = random_reals(size, 5), *y = random_reals(size, 6), *z = random_reals(size, 7);
    double sum = 0, dot = 0, squares = 0, exp_sum = 0, absolute = 0;
    real most = x[0];
    for (int i = 0; i < n; i++) {
        sum += (double)x[i];
        absolute += fabs((double)x[i]) + fabs((double)(x[i] * y[i]));
        dot += (double)x[i] * (double)y[i];
        squares += (double)x[i] * (double)x[i];
        exp_sum += (exp)((double)x[i] - 0.5);
        most = x[i] > most ? x[i] : most;
    }
    assert_below(fabs((double)vec_sum(x, n) - sum), TOLERANCE * absolute);
    assert_below(fabs((double)vec_dot(x, y, n) - dot), TOLERANCE * absolute);
    assert_near(vec_sum_squares(x, n), squares, 1e-14);
    if (n > 0) assert_true(vec_max(x, n) == most);

    z[n] = UNTOUCHED;
    assert_near(vec_exp_sum(z, x, (real)0.5, n), exp_sum, TOLERANCE);
    for (int i = 0; i < n; i++) assert_near(z[i], (exp)((double)x[i] - 0.5), TOLERANCE);
    vec_fill(z, 2, n);
    vec_add(z, x, n);
    vec_scale(z, 3, n);
    for (int i = 0; i < n; i++) assert_near(z[i], 3 * (2 + (double)x[i]), TOLERANCE);
    assert_true(z[n] == UNTOUCHED);
    memory_free(x);
    memory_free(y);
    memory_free(z);
}

static void test_vectors(void **state) {
    (void)state;
    for (int n = 0; n < 70; n++) check_vectors(n);
    check_vectors(1000);
    check_vectors(4099);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tile_matmul),    cmocka_unit_test(test_tile_matmul_rows_are_independent),
        cmocka_unit_test(test_tile_transpose), cmocka_unit_test(test_exp),
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
