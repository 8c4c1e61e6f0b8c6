#include "model/tile.h"

#include <stddef.h>
#include <string.h>

enum { TILE_ROWS = 4 };

/* rows (<= TILE_ROWS) by cols (<= TILE_COLS) of C. Inlined with constant sizes, the sums stay in registers. */
static inline __attribute__((always_inline)) void tile(real *C, int ldc, const real *A, int a_row, int a_col,
                                                       const real *B, int ldb, int rows, int cols, int k) {
    real sum[TILE_ROWS][TILE_COLS] = {{0}};
    for (int l = 0; l < k; l++) {
        const real *B_l = B + (ptrdiff_t)l * ldb;
        for (int i = 0; i < rows; i++) {
            real a = A[(ptrdiff_t)i * a_row + (ptrdiff_t)l * a_col];
#pragma omp simd
            for (int j = 0; j < cols; j++) sum[i][j] += a * B_l[j];
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) C[(ptrdiff_t)i * ldc + j] = sum[i][j];
}

void tile_matmul(real *C, int ldc, const real *A, int a_row, int a_col, const real *B, int ldb, int m, int n, int k) {
    int i = 0;
    for (; i + TILE_ROWS <= m; i += TILE_ROWS) {
        real *C_i = C + (ptrdiff_t)i * ldc;
        const real *A_i = A + (ptrdiff_t)i * a_row;
        int j = 0;
        for (; j + TILE_COLS <= n; j += TILE_COLS)
            tile(C_i + j, ldc, A_i, a_row, a_col, B + j, ldb, TILE_ROWS, TILE_COLS, k);
        if (j < n) tile(C_i + j, ldc, A_i, a_row, a_col, B + j, ldb, TILE_ROWS, n - j, k);
    }
    for (; i < m; i++) {
        real *C_i = C + (ptrdiff_t)i * ldc;
        const real *A_i = A + (ptrdiff_t)i * a_row;
        int j = 0;
        for (; j + TILE_COLS <= n; j += TILE_COLS) tile(C_i + j, ldc, A_i, a_row, a_col, B + j, ldb, 1, TILE_COLS, k);
        if (j < n) tile(C_i + j, ldc, A_i, a_row, a_col, B + j, ldb, 1, n - j, k);
    }
}

void tile_transpose(real *T, int ldt, const real *X, int ldx, int rows, int cols) {
    for (int c = 0; c < cols; c++) {
        real *T_c = T + (ptrdiff_t)c * ldt;
        for (int r = 0; r < rows; r++) T_c[r] = X[(ptrdiff_t)r * ldx + c];
        if (rows < ldt) memset(T_c + rows, 0, (size_t)(ldt - rows) * sizeof(real));
    }
}
