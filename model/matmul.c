#include "model/matmul.h"

#include <cblas.h>
#undef I

#include "base/parts.h"
#include "model/product.h"

#if REAL_IS_DOUBLE
#    define gemm cblas_dgemm
#else
#    define gemm cblas_sgemm
#endif

/* Weights of which a side is shorter than this go through our own product, if it has AVX-512. Above, and with narrower
 * vectors, BLAS is as fast or faster (docs/performance.md). */
#if defined(__AVX512F__)
enum { BLAS_WIDTH = 512 };
#else
enum { BLAS_WIDTH = 0 };
#endif

static bool is_narrow(int rows, int cols) { return rows < BLAS_WIDTH || cols < BLAS_WIDTH; }

void matmul_blas(real *C, const real *A, const real *B, int m, int n, int k) {
    gemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, A, k, B, k, 0, C, n);
}

void matmul_nt(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    if (is_narrow(n, k))
        product(C, (Operand){A, k, 1}, (Operand){B, 1, k}, m, n, k, false);
    else
        matmul_blas(C, A, B, m, n, k);
    part_end();
}

static void nn(real *C, const real *A, const real *B, int m, int n, int k, bool add) {
    part_begin(PART_GEMM);
    if (is_narrow(n, k))
        product(C, (Operand){A, k, 1}, (Operand){B, n, 1}, m, n, k, add);
    else
        gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, k, B, n, add, C, n);
    part_end();
}

void matmul_nn(real *C, const real *A, const real *B, int m, int n, int k) { nn(C, A, B, m, n, k, false); }
void matmul_nn_add(real *C, const real *A, const real *B, int m, int n, int k) { nn(C, A, B, m, n, k, true); }

void matmul_tn_add(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    if (is_narrow(m, n))
        product(C, (Operand){A, 1, m}, (Operand){B, n, 1}, m, n, k, true);
    else
        gemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, A, m, B, n, 1, C, n);
    part_end();
}

void matmul_serial_blas(void) { openblas_set_num_threads(1); }

const char *matmul_kernel_name(void) { return openblas_get_corename(); }
