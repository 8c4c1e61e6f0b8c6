#include "measuring/decode.h"

#include <omp.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "decoding/beam.h"

enum { BATCH = 64 }; /* sentences that a thread decodes together */

/* Sentences of the corpus, by length. */
typedef struct Sources {
    int *pair; /* [count] */
    int count;
    const Corpus *corpus;
} Sources;

static const Corpus *sorted; /* for compare, which qsort gives no context */

static int compare_lengths(const void *a, const void *b) {
    int i = *(const int *)a, j = *(const int *)b;
    int order = corpus_length(&sorted->source, i) - corpus_length(&sorted->source, j);
    return order ? order : i - j;
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The best hypotheses of sentences first .. first+count-1: returns their tokens, </s> counted. */
static int64_t decode(const Sources *s, int first, int count, const StepModel *model, const DecodeLimits *limits,
                      const BeamOptions *options, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    Batch b = corpus_batch(s->corpus, s->pair + first, count, arena);
    Hypothesis *out = arena_array(arena, Hypothesis, "hypotheses", count);
    int64_t tokens = 0;
    beam_decode(out, model, 1, &(BeamSources){.ids = b.source_ids, .rows = b.source}, limits, options, arena);
    for (int i = 0; i < count; i++) {
        tokens += out[i].count + 1;
        hypothesis_free(&out[i]);
    }
    arena_release(arena, mark);
    return tokens;
}

static DecodeTime batched(const char *name, Trainer *t, const Sources *s, const StepModel *model,
                          const DecodeLimits *limits, const BeamOptions *options) {
    int batches = (s->count + BATCH - 1) / BATCH;
    int64_t tokens = 0;
    double start = clock_seconds();
#pragma omp parallel for num_threads(t->lanes.threads) schedule(dynamic, 1) reduction(+ : tokens)
    for (int b = batches - 1; b >= 0; b--) { /* the longest first, so that no thread is left with them */
        int first = b * BATCH, count = s->count - first < BATCH ? s->count - first : BATCH;
        tokens += decode(s, first, count, model, limits, options, &t->lanes.arena[omp_get_thread_num()]);
    }
    double seconds = clock_seconds() - start;
    return (DecodeTime){name, s->count / seconds, (double)tokens / seconds, 0};
}

/* Every eighth sentence, so that all lengths occur. */
static DecodeTime one_by_one(const char *name, Trainer *t, const Sources *s, const StepModel *model,
                             const DecodeLimits *limits, const BeamOptions *options) {
    int count = (s->count + 7) / 8;
    int64_t tokens = 0;
    double *ms = memory_alloc((size_t)count, sizeof *ms, "times of sentences"), total = 0;
    for (int i = 0; i < count; i++) {
        double start = clock_seconds();
        tokens += decode(s, 8 * i, 1, model, limits, options, &t->lanes.arena[0]);
        ms[i] = 1e3 * (clock_seconds() - start);
        total += ms[i];
    }
    qsort(ms, (size_t)count, sizeof *ms, compare_times);
    DecodeTime time = {name, 1e3 * count / total, 1e3 * (double)tokens / total, ms[count / 2]};
    memory_free(ms);
    return time;
}

void decode_measure(DecodeTime times[DECODE_ROWS], Trainer *t, int sentences) {
    Sources s = {.corpus = &t->train, .count = sentences < t->train.pairs ? sentences : t->train.pairs};
    s.pair = memory_alloc((size_t)s.count, sizeof(int), "sentences to decode");
    for (int i = 0; i < s.count; i++) s.pair[i] = i;
    sorted = s.corpus;
    qsort(s.pair, (size_t)s.count, sizeof(int), compare_lengths);

    StepModel model;
    step_model_init(&model, &t->model, &t->positions);
    DecodeLimits limits = {.max_length_factor = 1, .min_length = 1};
    int *banned = limits_banned(t->model.config.target_vocab, &limits.banned_count);
    limits.banned = banned;
    BeamOptions greedy = {.beam_size = 1, .n_best = 1, .length_penalty = 1, .layer = -1, .head = -1}, beam = greedy;
    beam.beam_size = 5;
    times[0] = batched("greedy, batched", t, &s, &model, &limits, &greedy);
    times[1] = batched("beam 5, batched", t, &s, &model, &limits, &beam);
    times[2] = one_by_one("greedy, one by one", t, &s, &model, &limits, &greedy);
    times[3] = one_by_one("beam 5, one by one", t, &s, &model, &limits, &beam);
    memory_free(banned);
    step_model_free(&model);
    memory_free(s.pair);
}
