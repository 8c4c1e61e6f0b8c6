#include "model/tile.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Rows of a full tile: as many as leave its sums in registers, beside a row of B and an element of A. */
#if defined(__AVX512F__)
enum { TILE_ROWS = 8 };
#elif defined(__AVX__)
enum { TILE_ROWS = 6 };
#else
enum { TILE_ROWS = 4 };
#endif

/* rows by cols (<= TILE_WIDE) of C. Inlined with constant sizes, the sums stay in registers. */
static inline __attribute__((always_inline)) void tile(real *C, int ldc, const real *A, int a_row, int a_col,
                                                       const real *B, int ldb, int rows, int cols, int k, bool add) {
    real sum[8][TILE_WIDE] = {{0}};
#pragma GCC unroll 2 /* fewer operations of the loop's own */
    for (int l = 0; l < k; l++) {
        const real *B_l = B + (ptrdiff_t)l * ldb;
        for (int i = 0; i < rows; i++) {
            real a = A[(ptrdiff_t)i * a_row + (ptrdiff_t)l * a_col];
#pragma omp simd
            for (int j = 0; j < cols; j++) sum[i][j] += a * B_l[j];
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            C[(ptrdiff_t)i * ldc + j] = add ? C[(ptrdiff_t)i * ldc + j] + sum[i][j] : sum[i][j];
}

/* rows by n of C, tile beside tile. */
static inline __attribute__((always_inline)) void strip(real *C, int ldc, const real *A, int a_row, int a_col,
                                                        const real *B, int ldb, int rows, int n, int k, bool add) {
    int j = 0;
    for (; j + TILE_WIDE <= n; j += TILE_WIDE) tile(C + j, ldc, A, a_row, a_col, B + j, ldb, rows, TILE_WIDE, k, add);
    for (; j + TILE_COLS <= n; j += TILE_COLS) tile(C + j, ldc, A, a_row, a_col, B + j, ldb, rows, TILE_COLS, k, add);
    if (j < n) tile(C + j, ldc, A, a_row, a_col, B + j, ldb, rows, n - j, k, add);
}

/* The rows that are left over are one lower tile, not so many single rows: only the sums of a tile's other rows hide how
 * long an addition takes. */
static inline __attribute__((always_inline)) void matmul(real *C, int ldc, const real *A, int a_row, int a_col,
                                                         const real *B, int ldb, int m, int n, int k, bool add) {
    int i = 0;
    for (; i + TILE_ROWS <= m; i += TILE_ROWS)
        strip(C + (ptrdiff_t)i * ldc, ldc, A + (ptrdiff_t)i * a_row, a_row, a_col, B, ldb, TILE_ROWS, n, k, add);
    C += (ptrdiff_t)i * ldc;
    A += (ptrdiff_t)i * a_row;
    switch (m - i) {
    case 1:
        strip(C, ldc, A, a_row, a_col, B, ldb, 1, n, k, add);
        break;
    case 2:
        strip(C, ldc, A, a_row, a_col, B, ldb, 2, n, k, add);
        break;
    case 3:
        strip(C, ldc, A, a_row, a_col, B, ldb, 3, n, k, add);
        break;
    case 4:
        strip(C, ldc, A, a_row, a_col, B, ldb, 4, n, k, add);
        break;
    case 5:
        strip(C, ldc, A, a_row, a_col, B, ldb, 5, n, k, add);
        break;
    case 6:
        strip(C, ldc, A, a_row, a_col, B, ldb, 6, n, k, add);
        break;
    case 7:
        strip(C, ldc, A, a_row, a_col, B, ldb, 7, n, k, add);
        break;
    }
}

void tile_matmul(real *C, int ldc, const real *A, int a_row, int a_col, const real *B, int ldb, int m, int n, int k) {
    matmul(C, ldc, A, a_row, a_col, B, ldb, m, n, k, false);
}

void tile_matmul_add(real *C, int ldc, const real *A, int a_row, int a_col, const real *B, int ldb, int m, int n,
                     int k) {
    matmul(C, ldc, A, a_row, a_col, B, ldb, m, n, k, true);
}

void tile_transpose(real *T, int ldt, const real *X, int ldx, int rows, int cols) {
    if (rows < ldt) memset(T, 0, (size_t)cols * (size_t)ldt * sizeof(real));
    for (int c = 0; c < cols; c++)
        for (int r = 0; r < rows; r++) T[(ptrdiff_t)c * ldt + r] = X[(ptrdiff_t)r * ldx + c];
}
