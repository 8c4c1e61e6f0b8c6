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

/* Our own product is faster with vectors of 64 bytes, at every width; BLAS with narrower ones (docs/performance.md). */
#if defined(__AVX512F__)
enum { OWN_PRODUCT = true };
#else
enum { OWN_PRODUCT = false };
#endif

void matmul_blas(real *C, const real *A, const real *B, int m, int n, int k) {
    gemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, A, k, B, k, 0, C, n);
}

void matmul_nt(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    if (OWN_PRODUCT)
        product(C, (Operand){A, k, 1}, (Operand){B, 1, k}, m, n, k, false);
    else
        matmul_blas(C, A, B, m, n, k);
    part_end();
}

static void nn(real *C, const real *A, const real *B, int m, int n, int k, bool add) {
    part_begin(PART_GEMM);
    if (OWN_PRODUCT)
        product(C, (Operand){A, k, 1}, (Operand){B, n, 1}, m, n, k, add);
    else
        gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, k, B, n, add, C, n);
    part_end();
}

void matmul_nn(real *C, const real *A, const real *B, int m, int n, int k) { nn(C, A, B, m, n, k, false); }
void matmul_nn_add(real *C, const real *A, const real *B, int m, int n, int k) { nn(C, A, B, m, n, k, true); }

void matmul_tn_add(real *C, const real *A, const real *B, int m, int n, int k) {
    part_begin(PART_GEMM);
    if (OWN_PRODUCT)
        product(C, (Operand){A, 1, m}, (Operand){B, n, 1}, m, n, k, true);
    else
        gemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, A, m, B, n, 1, C, n);
    part_end();
}

void matmul_serial_blas(void) { openblas_set_num_threads(1); }

const char *matmul_kernel_name(void) { return openblas_get_corename(); }
