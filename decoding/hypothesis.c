#include "decoding/hypothesis.h"

#include "base/memory.h"
#include "base/vec.h"

void hypothesis_free(Hypothesis *h) {
    memory_free(h->ids);
    memory_free(h->token_log_p);
    memory_free(h->attention);
    *h = (Hypothesis){0};
}

void hypothesis_ids(int *ids, const StepCache *cache, int count, int slot) {
    for (int place = count; place > 0; place--) {
        const StepToken *token = step_token(cache, place, slot);
        ids[place - 1] = token->id;
        slot = token->parent;
    }
}

static void trace_log_p(double *log_p, const StepCache *cache, int count, int slot, double end_log_p) {
    log_p[count] = end_log_p;
    for (int place = count; place > 0; place--) {
        const StepToken *token = step_token(cache, place, slot);
        log_p[place - 1] = token->log_p;
        slot = token->parent;
    }
}

/* a [m] = attention of the row at this place, averaged over the models. */
static void mean_attention(real *a, const StepCache *cache, int models, int place, int slot) {
    int m = packed_length(&cache->source, step_sentence(cache, slot));
    vec_fill(a, 0, m);
    for (int i = 0; i < models; i++) vec_add(a, step_attention(&cache[i], place, slot), m);
    vec_scale(a, 1 / (real)models, m);
}

static void trace_attention(real *attention, const StepCache *cache, int models, int count, int slot) {
    int m = packed_length(&cache->source, step_sentence(cache, slot));
    for (int place = count; place >= 0; place--) {
        mean_attention(attention + (size_t)place * (size_t)m, cache, models, place, slot);
        slot = step_token(cache, place, slot)->parent;
    }
}

void hypothesis_trace(Hypothesis *h, const StepCache *cache, int models, int count, int slot, double end_log_p,
                      bool token_log_p, bool attention) {
    size_t tokens = (size_t)count + 1;
    h->count = count;
    h->source_length = packed_length(&cache->source, step_sentence(cache, slot));
    h->ids = memory_alloc(tokens, sizeof *h->ids, "translation");
    hypothesis_ids(h->ids, cache, count, slot);
    if (token_log_p) {
        h->token_log_p = memory_alloc(tokens, sizeof *h->token_log_p, "log-probabilities of tokens");
        trace_log_p(h->token_log_p, cache, count, slot, end_log_p);
    }
    if (attention) {
        h->attention = memory_alloc(tokens * (size_t)h->source_length, sizeof(real), "attention");
        trace_attention(h->attention, cache, models, count, slot);
    }
}

/* What attention of 0 counts as: it may be a smaller number that was flushed. */
static const double LEAST_COVERED = 1e-38;

double hypothesis_coverage(const StepCache *cache, int models, int count, int slot) {
    int m = packed_length(&cache->source, step_sentence(cache, slot));
    real *covered = memory_alloc(2 * (size_t)m, sizeof(real), "coverage"), *a = covered + m;
    for (int place = count; place >= 0; place--) {
        mean_attention(a, cache, models, place, slot);
        vec_add(covered, a, m);
        slot = step_token(cache, place, slot)->parent;
    }
    double sum = 0;
    for (int i = 0; i < m - 1; i++) sum += covered[i] < 1 ? log(fmax((double)covered[i], LEAST_COVERED)) : 0;
    memory_free(covered);
    return sum;
}
