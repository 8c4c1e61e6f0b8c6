#include "measuring/sgemm.h"

#include <omp.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/matmul.h"

void sgemm_probe_init(SgemmProbe *probe, int threads, int side) {
    *probe = (SgemmProbe){threads, side, memory_alloc((size_t)threads, sizeof(real *), "matrices of the yardstick")};
    size_t size = (size_t)side * (size_t)side;
    for (int t = 0; t < threads; t++) {
        probe->matrices[t] = memory_alloc(3 * size, sizeof(real), "matrices of the yardstick");
        for (size_t i = 0; i < 2 * size; i++) probe->matrices[t][i] = (real)(i % 7) - 3;
    }
}

void sgemm_probe_free(SgemmProbe *probe) {
    for (int t = 0; t < probe->threads; t++) memory_free(probe->matrices[t]);
    memory_free(probe->matrices);
}

double sgemm_probe_rate(const SgemmProbe *probe, int times) {
    int n = probe->side;
    size_t size = (size_t)n * (size_t)n;
    double start = clock_seconds();
#pragma omp parallel num_threads(probe->threads)
    {
        real *A = probe->matrices[omp_get_thread_num()];
        for (int i = 0; i < times; i++) matmul_blas(A + 2 * size, A, A + size, n, n, n);
    }
    return 2.0 * n * n * n * times * probe->threads / (clock_seconds() - start);
}

double sgemm_peak(int threads, int side) {
    SgemmProbe probe;
    double best = 0;
    sgemm_probe_init(&probe, threads, side);
    for (int i = 0; i < 5; i++) best = fmax(best, sgemm_probe_rate(&probe, 1));
    sgemm_probe_free(&probe);
    return best;
}
