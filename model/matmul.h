/* The three products behind every linear layer. Row-major, contiguous. They go through
 * model/product.h or BLAS, by what the compiler may use. The one place that calls BLAS.
 *
 *   forward            Y  = X W'     matmul_nt
 *   input gradient     dX = dY W     matmul_nn, or matmul_nn_add where it is a sum
 *   weight gradient    dW += dY' X   matmul_tn_add */
#ifndef MODEL_MATMUL_H
#define MODEL_MATMUL_H

#include "base/real.h"

void matmul_nt(real *C, const real *A, const real *B, int m, int n, int k);     /* C [m,n]  = A [m,k]  B [n,k]' */
void matmul_nn(real *C, const real *A, const real *B, int m, int n, int k);     /* C [m,n]  = A [m,k]  B [k,n]  */
void matmul_nn_add(real *C, const real *A, const real *B, int m, int n, int k); /* C [m,n] += A [m,k]  B [k,n]  */
void matmul_tn_add(real *C, const real *A, const real *B, int m, int n, int k); /* C [m,n] += A [k,m]' B [k,n]  */

/* matmul_nt by BLAS, always: the yardstick. */
void matmul_blas(real *C, const real *A, const real *B, int m, int n, int k);

/* BLAS runs serially inside our lanes: called once by every program that computes. */
void matmul_serial_blas(void);

/* Name of the BLAS kernel in use, such as "Zen" or "SkylakeX". */
const char *matmul_kernel_name(void);

#endif
