#include "training/adam.h"

#include "base/memory.h"
#include "base/parts.h"

void adam_init(Adam *a, size_t size, double beta1, double beta2, double eps) {
    *a = (Adam){.beta1 = beta1, .beta2 = beta2, .eps = eps, .size = size};
    a->m = memory_alloc(size, sizeof(real), "Adam moments");
    a->v = memory_alloc(size, sizeof(real), "Adam moments");
}

void adam_free(Adam *a) {
    memory_free(a->m);
    memory_free(a->v);
}

double clip_factor(double norm, double clip_norm) { return clip_norm > 0 && norm > clip_norm ? clip_norm / norm : 1; }

void adam_update(real *p, Adam *a, const real *gradient, double factor, double lr, int threads) {
    a->updates++;
    real b1 = (real)a->beta1, b2 = (real)a->beta2, eps = (real)a->eps, scale = (real)factor;
    real m_rest = (real)(1 - a->beta1), v_rest = (real)(1 - a->beta2);
    real m_step = (real)(lr / (1 - pow(a->beta1, (double)a->updates)));   /* lr mhat = m_step m */
    real v_correct = (real)(1 / (1 - pow(a->beta2, (double)a->updates))); /* vhat = v_correct v */
    real *m = a->m, *v = a->v;
    int64_t size = (int64_t)a->size;
#pragma omp parallel num_threads(threads)
    {
        part_begin(PART_ADAM);
#pragma omp for simd schedule(static)
        for (int64_t i = 0; i < size; i++) {
            real g = scale * gradient[i];
            m[i] = b1 * m[i] + m_rest * g;
            v[i] = b2 * v[i] + v_rest * g * g;
            p[i] -= m_step * m[i] / (sqrt(v_correct * v[i]) + eps);
        }
        part_end();
    }
}
