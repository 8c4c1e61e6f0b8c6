#include "decoding/translator.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Decoded together: enough hypotheses a step to read the weights for, and little waiting at the end. */
enum { GROUP_HYPOTHESES = 64, GROUP_ROWS = 2048 };

void translator_init(Translator *t, const Transformer *p, const TransformerPositions *positions,
                     const Tokenizer *source, const Tokenizer *target, const ConfigDecode *config, int threads,
                     Arena *arena) {
    *t = (Translator){.source = source, .target = target, .threads = threads, .arena = arena};
    t->limits =
        (DecodeLimits){config->max_length_factor, config->max_length_extra, decode_banned(p->config.target_vocab)};
    t->beam = (BeamOptions){config->beam_size, 1, config->length_penalty, false};
    step_model_init(&t->model, p, positions);
}

void translator_free(Translator *t) {
    step_model_free(&t->model);
    memory_free((void *)t->limits.banned);
}

/* A sentence to decode: a line that is not blank. */
typedef struct Job {
    int line, first, length; /* its ids, with </s>, start at `first` in the pool */
} Job;

static int by_length(const void *a, const void *b) {
    const Job *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1; /* longest first: the last groups are short */
    return x->line < y->line ? -1 : 1;
}

static int collect(Translation *out, Job *job, IdList *pool, const Tokenizer *tokenizer, const Line *line, int count) {
    TextEncoder *encoder = text_encoder_new(tokenizer);
    int jobs = 0;
    for (int i = 0; i < count; i++) {
        if (line_is_blank(line[i])) continue;
        int first = (int)pool->count;
        tokenizer_encode(encoder, line[i].text, line[i].length, pool);
        int dropped = (int)pool->count - first - TRANSLATOR_MOST_TOKENS;
        if (dropped > 0) {
            out[i].dropped = dropped;
            pool->count -= (size_t)dropped;
        }
        id_list_push(pool, ID_EOS);
        job[jobs++] = (Job){i, first, (int)pool->count - first};
    }
    text_encoder_free(encoder);
    qsort(job, (size_t)jobs, sizeof *job, by_length);
    return jobs;
}

/* Jobs first .. first+result-1 fit into one group. The first is the longest, and all get room for its length. */
static int group_size(const Job *job, int jobs, int first, int beam_size) {
    int size = 1, longest = job[first].length;
    while (first + size < jobs && (size + 1) * beam_size <= GROUP_HYPOTHESES && (size + 1) * longest <= GROUP_ROWS)
        size++;
    return size;
}

static void decode_group(Translation *out, const Translator *t, const Job *job, int jobs, const IdList *pool,
                         Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    Packed source = {jobs, arena_array(arena, int, "sentence offsets", jobs + 1)};
    source.offset[0] = 0;
    for (int i = 0; i < jobs; i++) source.offset[i + 1] = source.offset[i] + job[i].length;
    int *ids = arena_array(arena, int, "source ids", packed_rows(&source));
    for (int i = 0; i < jobs; i++)
        memcpy(ids + source.offset[i], pool->ids + job[i].first, (size_t)job[i].length * sizeof(int));
    Hypothesis *hypothesis = arena_array(arena, Hypothesis, "translations", jobs);
    if (t->beam.beam_size == 1)
        greedy_decode(hypothesis, &t->model, ids, source, &t->limits, arena);
    else
        beam_decode(hypothesis, &t->model, ids, source, &t->limits, &t->beam, arena);
    for (int i = 0; i < jobs; i++) {
        out[job[i].line].text = tokenizer_decode(t->target, hypothesis[i].ids, hypothesis[i].count, NULL);
        memory_free(hypothesis[i].ids);
    }
    arena_release(arena, mark);
}

void translator_translate(Translation *out, const Translator *t, const Line *line, int count) {
    IdList pool = {0};
    Job *job = memory_alloc((size_t)count, sizeof *job, "sentences to translate");
    int *group = memory_alloc((size_t)count + 1, sizeof *group, "groups to translate"), groups = 0;
    memset(out, 0, (size_t)count * sizeof *out);
    int jobs = collect(out, job, &pool, t->source, line, count);
    for (int first = 0; first < jobs; first = group[groups]) {
        group[groups + 1] = first + group_size(job, jobs, first, t->beam.beam_size);
        groups++;
    }
#pragma omp parallel for num_threads(t->threads) schedule(dynamic, 1)
    for (int g = 0; g < groups; g++)
        decode_group(out, t, job + group[g], group[g + 1] - group[g], &pool, &t->arena[omp_get_thread_num()]);
    for (int i = 0; i < count; i++)
        if (out[i].text == NULL) out[i].text = memory_text("", 0);
    memory_free(group);
    memory_free(job);
    id_list_free(&pool);
}
