#include "study/inspection.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "decoding/translator.h"
#include "study/saliency.h"

/* Reads a side's text into ids, </s> behind them. */
static bool read_side(IdList *ids, const Tokenizer *tokenizer, const char *option, const char *text, Error *error) {
    if (strchr(text, '\n') != NULL) return error_set(error, "%s holds a line end; give one sentence", option);
    TextEncoder *encoder = text_encoder_new(tokenizer);
    tokenizer_encode(encoder, text, strlen(text), ids);
    text_encoder_free(encoder);
    id_list_push(ids, ID_EOS);
    if (ids->count <= TRACE_MOST_TOKENS) return true;
    return error_set(error, "%s has %zu tokens with </s>; inspect shows at most %d a side, give a shorter sentence",
                     option, ids->count, TRACE_MOST_TOKENS);
}

/* The model's own translation, as `translate --beam-size 1` finds it. */
static void translate(IdList *ids, const LoadedRun *run, const char *source) {
    Arena arena;
    Translator t;
    Translation out = {0};
    arena_init(&arena, "decoding");
    translator_init(&t, &run->model, &run->positions, run->source, run->target, &run->config.decode, 1, &arena);
    t.beam.beam_size = 1;
    t.limits.max_length = TRACE_MOST_TOKENS - 1;
    t.keep = true;
    Line line = {source, strlen(source)};
    translator_translate(&out, &t, &line, 1);
    for (int i = 0; i < out.hypothesis[0].count; i++) id_list_push(ids, out.hypothesis[0].ids[i]);
    id_list_push(ids, ID_EOS);
    translations_free(&out, 1, 1);
    translator_free(&t);
    arena_free(&arena);
}

static Packed one_sentence(size_t length) {
    Packed p = {1, memory_alloc(2, sizeof(int), "sentence")};
    p.offset[1] = (int)length;
    return p;
}

static Batch make_batch(IdList *source, IdList *target) {
    Batch b = {.source = one_sentence(source->count), .target = one_sentence(target->count)};
    b.source_ids = source->ids;
    b.target_out = target->ids;
    b.target_in = memory_alloc(target->count, sizeof(int), "sentence");
    b.target_in[0] = ID_BOS;
    memcpy(b.target_in + 1, target->ids, (target->count - 1) * sizeof(int));
    b.index = memory_alloc(1, sizeof *b.index, "sentence");
    return b;
}

/* Puts class v among the best so far. */
static void place(InspectionStep *s, int v, double log_p) {
    int i = s->best_count;
    while (i > 0 && s->best_p[i - 1] < log_p) i--;
    if (i == INSPECTION_BEST) return;
    if (s->best_count < INSPECTION_BEST) s->best_count++;
    int moved = s->best_count - 1 - i;
    memmove(s->best + i + 1, s->best + i, (size_t)moved * sizeof *s->best);
    memmove(s->best_p + i + 1, s->best_p + i, (size_t)moved * sizeof *s->best_p);
    s->best[i] = v;
    s->best_p[i] = log_p;
}

/* log p_v = z_v - log sum_w exp z_w. Tokens of one probability rank by their ids. */
static InspectionStep look_at(const real *z, int V, int target) {
    InspectionStep s = {.id = target, .rank = 1};
    double max = (double)vec_max(z, V), sum = 0;
    for (int v = 0; v < V; v++) sum += exp((double)z[v] - max);
    for (int v = 0; v < V; v++) {
        double log_p = (double)z[v] - max - log(sum);
        s.entropy -= exp(log_p) * log_p;
        s.rank += z[v] > z[target] || (z[v] == z[target] && v < target);
        place(&s, v, log_p);
    }
    s.log_p = (double)z[target] - max - log(sum);
    for (int i = 0; i < s.best_count; i++) s.best_p[i] = exp(s.best_p[i]);
    return s;
}

static void look_at_steps(Inspection *in) {
    int T = packed_rows(&in->batch.target), V = in->run->model.config.target_vocab;
    Arena arena;
    arena_init(&arena, "logits");
    real *logits = arena_reals(&arena, "logits", T, V);
    transformer_logits(logits, &in->batch, &in->run->model, &in->run->positions, &arena);
    in->step = memory_alloc((size_t)T, sizeof *in->step, "steps");
    for (int t = 0; t < T; t++) in->step[t] = look_at(logits + (size_t)t * (size_t)V, V, in->batch.target_out[t]);
    arena_free(&arena);
}

bool inspection_make(Inspection *in, const LoadedRun *run, const char *source, const char *target, Error *error) {
    IdList source_ids = {0}, target_ids = {0};
    *in = (Inspection){.run = run, .target_given = target != NULL};
    bool good = !line_is_blank((Line){source, strlen(source)}) ||
                error_set(error, "--source is blank, and the model never sees blank lines; give a sentence");
    good = good && read_side(&source_ids, run->source, "--source", source, error) &&
           (target == NULL || read_side(&target_ids, run->target, "--target", target, error));
    if (!good) {
        id_list_free(&source_ids);
        id_list_free(&target_ids);
        return false;
    }
    if (target == NULL) translate(&target_ids, run, source);
    in->batch = make_batch(&source_ids, &target_ids);
    in->gradients = memory_alloc(run->table.total, sizeof(real), "gradients");
    Transformer dp;
    transformer_init(&dp, &run->model.config, in->gradients);
    trace_run(&in->trace, &dp, &in->batch, &run->model, &run->positions);
    transformer_free(&dp);
    look_at_steps(in);
    in->saliency = memory_alloc(source_ids.count * target_ids.count, sizeof(real), "saliency");
    saliency_run(in->saliency, &in->batch, &run->model, &run->positions);
    return true;
}

void inspection_free(Inspection *in) {
    memory_free(in->batch.source.offset);
    memory_free(in->batch.target.offset);
    memory_free(in->batch.source_ids);
    memory_free(in->batch.target_in);
    memory_free(in->batch.target_out);
    memory_free(in->batch.index);
    memory_free(in->gradients);
    memory_free(in->step);
    memory_free(in->saliency);
    trace_free(&in->trace);
}

double inspection_log_p(const Inspection *in) {
    double sum = 0;
    for (int t = 0; t < packed_rows(&in->batch.target); t++) sum += in->step[t].log_p;
    return sum;
}
