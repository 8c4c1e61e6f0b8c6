#include "training/optimizer.h"

#include <math.h>

#include "base/memory.h"
#include "base/parts.h"

static bool is_decayed(ParamRole role) {
    return role == PARAM_MATRIX || role == PARAM_QKV_MATRIX || role == PARAM_EMBEDDING;
}

/* Without decay all is one span. */
static void find_spans(Optimizer *o, const ParamTable *table) {
    o->span = memory_alloc((size_t)table->count + 1, sizeof *o->span, "spans of the optimizer");
    if (!(o->weight_decay > 0)) {
        o->span[o->spans++] = (OptimizerSpan){.end = table->total};
        return;
    }
    for (int i = 0; i < table->count; i++) {
        const Param *p = &table->param[i];
        bool decayed = is_decayed(p->role);
        if (o->spans == 0 || o->span[o->spans - 1].decayed != decayed)
            o->span[o->spans++] = (OptimizerSpan){.start = p->offset, .decayed = decayed};
        o->span[o->spans - 1].end = p->offset + param_size(p);
    }
}

void optimizer_init(Optimizer *o, const ConfigTrain *config, const ParamTable *table) {
    *o = (Optimizer){.kind = config->optimizer,
                     .beta1 = config->adam_beta1,
                     .beta2 = config->adam_beta2,
                     .eps = config->adam_eps,
                     .momentum = config->momentum,
                     .weight_decay = config->weight_decay};
    find_spans(o, table);
    o->m = memory_alloc(table->total, sizeof(real), "moments of the optimizer");
    if (o->kind != CONFIG_OPTIMIZER_SGD) o->v = memory_alloc(table->total, sizeof(real), "moments of the optimizer");
}

void optimizer_free(Optimizer *o) {
    memory_free(o->span);
    memory_free(o->m);
    memory_free(o->v);
}

double clip_factor(double norm, double clip_norm) { return clip_norm > 0 && norm > clip_norm ? clip_norm / norm : 1; }

/* Weight decay of a span's elements: shares of an element that are added to its gradient, or to its step. */
typedef struct Decay {
    real gradient, step;
} Decay;

static Decay decay_of(const Optimizer *o, const OptimizerSpan *span, double lr) {
    double w = span->decayed ? o->weight_decay : 0;
    return o->kind == CONFIG_OPTIMIZER_ADAMW ? (Decay){0, (real)(lr * w)} : (Decay){(real)w, 0};
}

/* The loops below are run by all threads of a team; spans need not wait for each other. */
static void adam_update(real *p, const Optimizer *o, const real *gradient, double factor, double lr) {
    real b1 = (real)o->beta1, b2 = (real)o->beta2, eps = (real)o->eps, scale = (real)factor;
    real m_rest = (real)(1 - o->beta1), v_rest = (real)(1 - o->beta2);
    real m_step = (real)(lr / (1 - pow(o->beta1, (double)o->updates)));   /* lr mhat = m_step m */
    real v_correct = (real)(1 / (1 - pow(o->beta2, (double)o->updates))); /* vhat = v_correct v */
    real *m = o->m, *v = o->v;
    for (int s = 0; s < o->spans; s++) {
        Decay decay = decay_of(o, &o->span[s], lr);
        int64_t start = (int64_t)o->span[s].start, end = (int64_t)o->span[s].end;
#pragma omp for simd schedule(static) nowait
        for (int64_t i = start; i < end; i++) {
            real g = scale * gradient[i] + decay.gradient * p[i];
            m[i] = b1 * m[i] + m_rest * g;
            v[i] = b2 * v[i] + v_rest * g * g;
            p[i] -= m_step * m[i] / (sqrt(v_correct * v[i]) + eps) + decay.step * p[i];
        }
    }
}

static void sgd_update(real *p, const Optimizer *o, const real *gradient, double factor, double lr) {
    real momentum = (real)o->momentum, step = (real)lr, scale = (real)factor, *m = o->m;
    for (int s = 0; s < o->spans; s++) {
        Decay decay = decay_of(o, &o->span[s], lr);
        int64_t start = (int64_t)o->span[s].start, end = (int64_t)o->span[s].end;
#pragma omp for simd schedule(static) nowait
        for (int64_t i = start; i < end; i++) {
            real g = scale * gradient[i] + decay.gradient * p[i];
            m[i] = momentum * m[i] + g;
            p[i] -= step * m[i];
        }
    }
}

void optimizer_update(real *p, Optimizer *o, const real *gradient, double factor, double lr, int threads) {
    o->updates++;
#pragma omp parallel num_threads(threads)
    {
        part_begin(PART_OPTIMIZER);
        if (o->kind == CONFIG_OPTIMIZER_SGD)
            sgd_update(p, o, gradient, factor, lr);
        else
            adam_update(p, o, gradient, factor, lr);
        part_end();
    }
}
