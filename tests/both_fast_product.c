/* The product of linear layers against the definition, and the four that layers call. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/probe.h"

#include "model/matmul.h"
#include "model/product.h"
#include "tests/support/twin.h"

static size_t cells(int rows, int cols) { return (size_t)rows * (size_t)cols; }

/* Where element i, j of an operand [rows, cols] lies: the distances of the matrix, or of the transpose of another. */
static Operand operand(const real *data, int rows, int cols, bool transposed) {
    return transposed ? (Operand){data, 1, rows} : (Operand){data, cols, 1};
}

static double at(Operand x, int i, int j) {
    return (double)x.data[(size_t)i * (size_t)x.row + (size_t)j * (size_t)x.col];
}

static TwinSum *twin_product(Arena *arena, const real *before, Operand A, Operand B, int m, int n, int k) {
    TwinSum *C = before ? twin_sums_from(arena, before, cells(m, n)) : twin_sums(arena, cells(m, n));
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++) {
                double term = at(A, i, l) * at(B, l, j);
                twin_add(&C[cells(i, n) + (size_t)j], term, fabs(term));
            }
    return C;
}

/* In a block of its own, for the address sanitizer to see what is read behind it. */
static real *exact_copy(const real *x, size_t count) {
    real *copy = malloc(count * sizeof *copy);
    assert_non_null(copy);
    return memcpy(copy, x, count * sizeof *copy);
}

/* Kind: 1, A is transposed; 2, B is; 4, added to what C was. The row behind C stays what it was. */
static void check_kind(int m, int n, int k, int kind, uint64_t seed, Arena *arena) {
    real *a = exact_copy(twin_random(arena, cells(m, k), seed), cells(m, k));
    real *b = exact_copy(twin_random(arena, cells(k, n), seed + 1), cells(k, n));
    Operand A = operand(a, m, k, kind & 1), B = operand(b, k, n, kind & 2);
    bool add = kind & 4;
    real *C = add ? twin_random(arena, cells(m, n), seed + 2) : twin_output(arena, cells(m, n));
    TwinSum *expected = twin_product(arena, add ? C : NULL, A, B, m, n, k);
    product(C, A, B, m, n, k, add);
    assert_sums(C, expected, cells(m, n), 4 + k);
    assert_true(C[cells(m, n)] == TWIN_UNTOUCHED);
    free(a);
    free(b);
}

/* Each orientation that layers use, and A' B' too. */
static void check_product(int m, int n, int k, uint64_t seed, Arena *arena) {
    for (int kind = 0; kind < 8; kind++) check_kind(m, n, k, kind, seed, arena);
}

static void check_orientations(int m, int n, uint64_t seed, Arena *arena) {
    Rng rng = {hash64(seed + 5)};
    check_product(m, n, twin_size(&rng, 300), seed, arena);
}

static void test_orientations(void **state) {
    (void)state;
    twin_for_shapes(check_orientations, 60, 70, 200);
}

/* Above every block: 528 rows of a copied A, 352 terms of it (128 below 512 columns), 512 of one that lies, 64 columns. */
static void test_blocks(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, "test");
    check_product(1100, 67, 130, 3, &arena);
    check_product(529, 193, 257, 4, &arena);
    check_product(7, 65, 1030, 5, &arena);
    check_product(13, 513, 705, 6, &arena);
    check_kind(529, 512, 353, 1, 7, &arena);
    arena_free(&arena);
}

/* What a row becomes does not depend on the rows beside it: alone, and as a matrix of its own. Every step-th row. */
static void check_alone(int m, int n, int k, int step, uint64_t seed, Arena *arena) {
    const real *a = twin_random(arena, cells(m, k), seed), *b = twin_random(arena, cells(k, n), seed + 1);
    real *together = twin_output(arena, cells(m, n)), *alone = twin_output(arena, (size_t)n),
         *own = twin_output(arena, (size_t)k);
    for (int kind = 0; kind < 4; kind++) {
        Operand A = operand(a, m, k, kind & 1), B = operand(b, k, n, kind & 2);
        product(together, A, B, m, n, k, false);
        for (int i = 0; i < m; i += step) {
            Operand row = {A.data + (size_t)i * (size_t)A.row, A.row, A.col};
            product(alone, row, B, 1, n, k, false);
            assert_memory_equal(alone, together + cells(i, n), (size_t)n * sizeof(real));
            for (int l = 0; l < k; l++) own[l] = (real)at(row, 0, l);
            product(alone, operand(own, 1, k, kind & 1), B, 1, n, k, false);
            assert_memory_equal(alone, together + cells(i, n), (size_t)n * sizeof(real));
        }
    }
}

static void check_rows_alone(int m, int n, uint64_t seed, Arena *arena) {
    Rng rng = {hash64(seed + 6)};
    check_alone(m, n, twin_size(&rng, 300), 1, seed, arena);
}

static void test_rows_alone(void **state) {
    (void)state;
    twin_for_shapes(check_rows_alone, 20, 40, 150);
    Arena arena;
    arena_init(&arena, "test");
    check_alone(7, 66, 1030, 1, 8, &arena);
    check_alone(7, 513, 705, 1, 9, &arena);
    check_alone(529, 512, 353, 528, 10, &arena);
    arena_free(&arena);
}

/* A sum of no terms, and a matrix of no rows. */
static void test_nothing(void **state) {
    (void)state;
    real C[2] = {TWIN_UNTOUCHED, TWIN_UNTOUCHED}, x[2] = {1, 2};
    product(C, (Operand){x, 1, 1}, (Operand){x, 1, 1}, 2, 1, 0, false);
    product(C, (Operand){x, 1, 1}, (Operand){x, 1, 1}, 0, 1, 1, false);
    assert_true(C[0] == TWIN_UNTOUCHED && C[1] == TWIN_UNTOUCHED);
}

/* The four products of layers, and the one of BLAS. */
static void check_layers(int m, int width, uint64_t seed, Arena *arena) {
    const real *wide = twin_random(arena, cells(width, width), seed),
               *rows = twin_random(arena, cells(m, width), seed + 1);
    const real *other = twin_random(arena, cells(m, width), seed + 2);
    Operand W = operand(wide, width, width, false), W_t = operand(wide, width, width, true),
            X = operand(rows, m, width, false);
    real *C = twin_output(arena, cells(m, width));
    matmul_nt(C, rows, wide, m, width, width);
    assert_sums(C, twin_product(arena, NULL, X, W_t, m, width, width), cells(m, width), 4 + width);
    matmul_blas(C, rows, wide, m, width, width);
    assert_sums(C, twin_product(arena, NULL, X, W_t, m, width, width), cells(m, width), 4 + width);
    matmul_nn(C, rows, wide, m, width, width);
    assert_sums(C, twin_product(arena, NULL, X, W, m, width, width), cells(m, width), 4 + width);
    TwinSum *sum = twin_product(arena, C, X, W, m, width, width);
    matmul_nn_add(C, rows, wide, m, width, width);
    assert_sums(C, sum, cells(m, width), 4 + width);
    real *dW = twin_random(arena, cells(width, width), seed + 3);
    sum = twin_product(arena, dW, operand(rows, width, m, true), operand(other, m, width, false), width, width, m);
    matmul_tn_add(dW, rows, other, width, width, m);
    assert_sums(dW, sum, cells(width, width), 4 + m);
}

static void test_layers(void **state) {
    (void)state;
    matmul_serial_blas();
    Arena arena;
    arena_init(&arena, "test");
    check_layers(17, 48, 1, &arena);
    check_layers(17, 512, 2, &arena);
    check_layers(5, 530, 3, &arena);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientations), cmocka_unit_test(test_blocks), cmocka_unit_test(test_rows_alone),
        cmocka_unit_test(test_nothing),      cmocka_unit_test(test_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
