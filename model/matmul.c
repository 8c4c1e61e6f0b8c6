#include "model/matmul.h"

#include <cblas.h>
#undef I

#include "base/parts.h"

#if REAL_IS_DOUBLE
#    define gemm cblas_dgemm
#else
#    define gemm cblas_sgemm
#endif

void matmul_nt(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    gemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, A, k, B, k, 0, C, n);
    part_end();
}

void matmul_nn(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, k, B, n, 0, C, n);
    part_end();
}

void matmul_nn_add(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, k, B, n, 1, C, n);
    part_end();
}

void matmul_tn_add(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    gemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, A, m, B, n, 1, C, n);
    part_end();
}

void matmul_serial_blas(void) { openblas_set_num_threads(1); }

const char *matmul_kernel_name(void) { return openblas_get_corename(); }
