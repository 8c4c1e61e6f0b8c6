#include "decoding/translator.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"

enum { BATCH_TOKENS = 1024, BATCH_HYPOTHESES = 128 }; /* enough rows a step to be worth reading the weights for */

void translator_init(Translator *t, const Transformer *p, const TransformerPositions *positions,
                     const Tokenizer *source, const Tokenizer *target, const ConfigDecode *config, int threads,
                     Arena *arena) {
    *t = (Translator){.source = source, .target = target, .threads = threads, .arena = arena};
    t->batch_tokens = BATCH_TOKENS;
    t->limits.max_length_factor = config->max_length_factor;
    t->limits.max_length_extra = config->max_length_extra;
    t->limits.banned = limits_banned(p->config.target_vocab, &t->limits.banned_count);
    t->beam = (BeamOptions){.beam_size = config->beam_size, .n_best = 1, .length_penalty = config->length_penalty};
    t->beam.layer = t->beam.head = -1;
    translator_add_model(t, p, positions);
}

void translator_add_model(Translator *t, const Transformer *p, const TransformerPositions *positions) {
    int n = t->models++;
    t->model = memory_grow(t->model, (size_t)n, (size_t)n + 1, sizeof *t->model, "models");
    step_model_init(&t->model[n], p, positions);
}

void translator_free(Translator *t) {
    for (int i = 0; i < t->models; i++) step_model_free(&t->model[i]);
    memory_free(t->model);
    memory_free((void *)t->limits.banned);
}

/* A sentence to decode: a line that is not blank. */
typedef struct Job {
    int line, first, length; /* its ids, with </s>, start at `first` in the pool */
} Job;

static int by_length(const void *a, const void *b) {
    const Job *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1; /* longest first: the last batches are short */
    return x->line < y->line ? -1 : 1;
}

static bool is_left_out(const Line *line, int i, const ForcedTargets *forced) {
    bool scored = forced != NULL && forced->complete && forced->offset[i] < forced->offset[i + 1];
    return line_is_blank(line[i]) && !scored;
}

static int collect(Translation *out, Job *job, IdList *pool, const Tokenizer *tokenizer, const Line *line, int count,
                   const ForcedTargets *forced) {
    TextEncoder *encoder = text_encoder_new(tokenizer);
    int jobs = 0;
    for (int i = 0; i < count; i++) {
        if (is_left_out(line, i, forced)) continue;
        int first = (int)pool->count;
        tokenizer_encode(encoder, line[i].text, line[i].length, pool);
        out[i].source_tokens = (int)pool->count - first;
        id_list_push(pool, ID_EOS);
        job[jobs++] = (Job){i, first, (int)pool->count - first};
    }
    text_encoder_free(encoder);
    qsort(job, (size_t)jobs, sizeof *job, by_length);
    return jobs;
}

/* Jobs first .. first+result-1 fit into one batch. The first is the longest. */
static int batch_size(const Translator *t, const Job *job, int jobs, int first) {
    int64_t size = 1, N = t->beam.beam_size, longest = job[first].length;
    while (first + size < jobs && (size + 1) * N <= BATCH_HYPOTHESES && (size + 1) * N * longest <= t->batch_tokens)
        size++;
    return (int)size;
}

/* The parts of ids[offset[i]] .. that belong to the jobs, end to end. */
static int *gather(Packed *rows, const int *ids, const int *start, const int *length, int jobs, Arena *arena) {
    *rows = (Packed){jobs, arena_array(arena, int, "sentence offsets", jobs + 1)};
    rows->offset[0] = 0;
    for (int i = 0; i < jobs; i++) rows->offset[i + 1] = rows->offset[i] + length[i];
    int *out = arena_array(arena, int, "ids", packed_rows(rows));
    for (int i = 0; i < jobs; i++)
        if (length[i] > 0) memcpy(out + rows->offset[i], ids + start[i], (size_t)length[i] * sizeof(int));
    return out;
}

static BeamSources batch_sources(const Translator *t, const Job *job, int jobs, const IdList *pool,
                                 const ForcedTargets *forced, Arena *arena) {
    BeamSources in = {0};
    int *start = arena_array(arena, int, "starts", jobs), *length = arena_array(arena, int, "lengths", jobs);
    for (int i = 0; i < jobs; i++) {
        start[i] = job[i].first;
        length[i] = job[i].length;
    }
    int64_t *number = arena_array(arena, int64_t, "line numbers", jobs);
    for (int i = 0; i < jobs; i++) number[i] = t->first_line + job[i].line;
    in.line = number;
    in.ids = gather(&in.rows, pool->ids, start, length, jobs, arena);
    if (forced == NULL) return in;
    in.complete = forced->complete;
    for (int i = 0; i < jobs; i++) {
        start[i] = forced->offset[job[i].line];
        length[i] = forced->offset[job[i].line + 1] - start[i];
    }
    in.forced_ids = gather(&in.forced, forced->ids, start, length, jobs, arena);
    return in;
}

static void decode_batch(Translation *out, const Translator *t, const Job *job, int jobs, const IdList *pool,
                         const ForcedTargets *forced, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int K = t->beam.n_best;
    BeamSources in = batch_sources(t, job, jobs, pool, forced, arena);
    Hypothesis *h = arena_array(arena, Hypothesis, "translations", (size_t)jobs * (size_t)K);
    beam_decode(h, t->model, t->models, &in, &t->limits, &t->beam, arena);
    for (int i = 0; i < jobs; i++) {
        Translation *to = &out[job[i].line];
        Hypothesis *h_i = h + (size_t)i * (size_t)K;
        if (h_i->ids != NULL) to->text = tokenizer_decode(t->target, h_i->ids, h_i->count, &to->length);
        if (t->keep) {
            to->hypothesis = memory_alloc((size_t)K, sizeof *h, "hypotheses");
            memcpy(to->hypothesis, h_i, (size_t)K * sizeof *h);
            to->source_ids = memory_alloc((size_t)job[i].length, sizeof(int), "source ids");
            memcpy(to->source_ids, pool->ids + job[i].first, (size_t)job[i].length * sizeof(int));
        } else {
            for (int k = 0; k < K; k++) hypothesis_free(&h_i[k]);
        }
    }
    arena_release(arena, mark);
}

void translator_translate_forced(Translation *out, const Translator *t, const Line *line, int count,
                                 const ForcedTargets *forced) {
    IdList pool = {0};
    Job *job = memory_alloc((size_t)count, sizeof *job, "sentences to translate");
    int *batch = memory_alloc((size_t)count + 1, sizeof *batch, "batches to translate"), batches = 0;
    memset(out, 0, (size_t)count * sizeof *out);
    int jobs = collect(out, job, &pool, t->source, line, count, forced);
    for (int first = 0; first < jobs; first = batch[batches]) {
        batch[batches + 1] = first + batch_size(t, job, jobs, first);
        batches++;
    }
    Progress progress = {0};
    if (t->progress != NULL) progress_begin(&progress, t->progress, jobs);
#pragma omp parallel for num_threads(t->threads) schedule(dynamic, 1)
    for (int b = 0; b < batches; b++) {
        int size = batch[b + 1] - batch[b];
        decode_batch(out, t, job + batch[b], size, &pool, forced, &t->arena[omp_get_thread_num()]);
        progress_add(&progress, size);
    }
    progress_end(&progress);
    for (int i = 0; i < count; i++)
        if (out[i].text == NULL) out[i].text = memory_text("", 0);
    memory_free(batch);
    memory_free(job);
    id_list_free(&pool);
}

void translator_translate(Translation *out, const Translator *t, const Line *line, int count) {
    translator_translate_forced(out, t, line, count, NULL);
}

void translations_free(Translation *translation, int count, int n_best) {
    for (int i = 0; i < count; i++) {
        memory_free(translation[i].text);
        for (int k = 0; translation[i].hypothesis != NULL && k < n_best; k++)
            hypothesis_free(&translation[i].hypothesis[k]);
        memory_free(translation[i].hypothesis);
        memory_free(translation[i].source_ids);
    }
}
