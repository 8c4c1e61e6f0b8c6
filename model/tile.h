/* Small matrix products for the attention core, where a BLAS call costs more than it computes.
 *
 * One register tile serves all six products of attention: C = A B with B and C row-major and A read through
 * two strides, so that A' costs no transposition. Plain C that compilers vectorise. */
#ifndef MODEL_TILE_H
#define MODEL_TILE_H

#include "base/real.h"

enum { TILE_COLS = 16 }; /* pad columns to a multiple of this where you can: the rest runs slower */

/* Where there are so many columns they are taken together, which reads A half as often. */
#if defined(__AVX512F__)
enum { TILE_WIDE = 2 * TILE_COLS };
#else
enum { TILE_WIDE = TILE_COLS };
#endif

static inline int tile_pad(int n) { return (n + TILE_COLS - 1) / TILE_COLS * TILE_COLS; }

/* C [m,n] = A [m,k] B [k,n], overwriting. C_ij = C[i ldc + j], A_ik = A[i a_row + k a_col], B_kj = B[k ldb + j].
 * Each C_ij is summed over k in order, whatever m and n. */
void tile_matmul(real *C, int ldc, const real *A, int a_row, int a_col, const real *B, int ldb, int m, int n, int k);

/* The same, added to C. */
void tile_matmul_add(real *C, int ldc, const real *A, int a_row, int a_col, const real *B, int ldb, int m, int n,
                     int k);

/* T [cols, ldt] = X' for X [rows, cols] of stride ldx; the columns rows .. ldt-1 of T are set to zero. */
void tile_transpose(real *T, int ldt, const real *X, int ldx, int rows, int cols);

#endif
