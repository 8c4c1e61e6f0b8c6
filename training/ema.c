#include "training/ema.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parts.h"

real *ema_new(const real *p, size_t size) {
    return memcpy(memory_alloc(size, sizeof(real), "moving average of the weights"), p, size * sizeof(real));
}

double ema_decay(double decay, int64_t u) { return fmin(decay, (1 + (double)u) / (10 + (double)u)); }

void ema_update(real *average, const real *p, size_t size, double decay, int threads) {
    real rest = (real)(1 - decay);
    int64_t count = (int64_t)size;
#pragma omp parallel num_threads(threads)
    {
        part_begin(PART_OPTIMIZER);
#pragma omp for simd schedule(static)
        for (int64_t i = 0; i < count; i++) average[i] += rest * (p[i] - average[i]);
        part_end();
    }
}
