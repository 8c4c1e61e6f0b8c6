#include "training/validate.h"

#include <omp.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "scores/metric.h"
#include "training/average.h"
#include "training/conclude.h"
#include "training/messages.h"
#include "training/model_files.h"
#include "training/report.h"
#include "training/valid_details.h"

enum { SHOWN_SAMPLES = 3 }; /* at most, in the log */

/* nll of each pair of a piece, summed over its target tokens. */
static void add_rows(double *nll, const real *row_nll, const Packed *target) {
    for (int i = 0; i < target->sentences; i++)
        for (int n = target->offset[i]; n < target->offset[i + 1]; n++) nll[i] += (double)row_nll[n];
}

/* Pieces in the order of the corpus; losses are added in that order. nll [pairs] starts at zero. */
static LossSums valid_loss(double *nll, Trainer *t) {
    const Corpus *c = &t->valid;
    int pieces = 0, *first = memory_alloc((size_t)c->pairs + 1, sizeof *first, "validation pieces");
    for (int pair = 0, rows = 0; pair < c->pairs; pair++) {
        rows += corpus_length(&c->target, pair) + 1;
        if (rows >= t->config.train.piece_rows || pair + 1 == c->pairs) {
            first[++pieces] = pair + 1;
            rows = 0;
        }
    }
    LossSums *sums = memory_alloc((size_t)pieces, sizeof *sums, "validation losses"), total = {0};
    Progress progress;
    progress_begin(&progress, "validating: losses", pieces);
#pragma omp parallel for num_threads(t->lanes.threads) schedule(dynamic, 1)
    for (int i = 0; i < pieces; i++) {
        Arena *arena = &t->lanes.arena[omp_get_thread_num()];
        ArenaMark mark = arena_mark(arena);
        int count = first[i + 1] - first[i], *pairs = arena_array(arena, int, "pairs", count);
        for (int j = 0; j < count; j++) pairs[j] = first[i] + j;
        Batch batch = corpus_batch(c, pairs, count, arena);
        real *row_nll = arena_reals(arena, "nll of rows", packed_rows(&batch.target), 1);
        sums[i] = transformer_loss(row_nll, &batch, &t->served_model, &t->positions, t->config.train.label_smoothing,
                                   NULL, arena);
        add_rows(nll + first[i], row_nll, &batch.target);
        arena_release(arena, mark);
        progress_add(&progress, 1);
    }
    progress_end(&progress);
    for (int i = 0; i < pieces; i++) loss_add(&total, sums[i]);
    memory_free(sums);
    memory_free(first);
    return total;
}

static void show_sample(Trainer *t, const char *translation, int pair) {
    Line source = t->valid_text.source.line[pair], target = t->valid_text.target.line[pair];
    log_line(&t->log, "    source     %.*s", (int)source.length, source.text);
    log_line(&t->log, "    reference  %.*s", (int)target.length, target.text);
    log_line(&t->log, "    output     %s", translation);
}

static double score(const Metric *m, const Line *hypothesis, const Line *reference, int count) {
    Counts counts;
    counts_collect(&counts, m, hypothesis, &reference, 1, count);
    double value = counts_score(&counts).value;
    counts_free(&counts);
    return value;
}

void trainer_print_signatures(Trainer *t) {
    char bleu[METRIC_TEXT], chrf[METRIC_TEXT];
    log_line(&t->log, "scores     BLEU|%s, chrF2|%s",
             metric_signature(bleu, (Metric[]){metric_bleu()}, &(Setting){.references = 1}),
             metric_signature(chrf, (Metric[]){metric_chrf(0)}, &(Setting){.references = 1}));
}

/* Some of the samples that are kept, spread over them. */
static void show_samples(Trainer *t, const Translation *out, int lines) {
    int samples = t->config.valid.samples < lines ? t->config.valid.samples : lines;
    int shown = samples < SHOWN_SAMPLES ? samples : SHOWN_SAMPLES;
    for (int i = 0; i < shown; i++) {
        int line = valid_sample_line(i * samples / shown, samples, lines);
        show_sample(t, out[line].text, line);
    }
}

/* BLEU, chrF2 and exact matches of the greedy translations of all validation lines, as plain text. The samples, as JSON,
 * are from memory_alloc. */
static char *translate_and_score(ValidMetrics *m, Trainer *t) {
    const Metric bleu = metric_bleu(), chrf = metric_chrf(0), exact = {.kind = METRIC_EXACT_MATCH};
    const Lines *source = &t->valid_text.source, *target = &t->valid_text.target;
    int count = (int)source->count;
    Translation *out = memory_alloc((size_t)count, sizeof *out, "validation translations");
    Line *line = memory_alloc((size_t)count, sizeof *line, "validation translations");
    Translator translator;
    translator_init(&translator, &t->served_model, &t->positions, t->source, t->target, &t->config.decode,
                    t->lanes.threads, t->lanes.arena);
    translator.progress = "validating: translating";
    translator_translate(out, &translator, source->line, count);
    for (int i = 0; i < count; i++) line[i] = (Line){out[i].text, out[i].length};
    m->bleu = score(&bleu, line, target->line, count);
    m->chrf = score(&chrf, line, target->line, count);
    m->exact_match = score(&exact, line, target->line, count);
    show_samples(t, out, count);
    char *samples = valid_samples(&t->valid_text, out, t->config.valid.samples);
    for (int i = 0; i < count; i++) memory_free(out[i].text);
    translator_free(&translator);
    memory_free(line);
    memory_free(out);
    return samples;
}

/* The value that decides which weights are best. */
static double deciding(const Trainer *t, const ValidMetrics *m) {
    switch (t->config.valid.metric) {
    case CONFIG_METRIC_NLL:
        return m->nll;
    case CONFIG_METRIC_EXACT_MATCH:
        return m->exact_match;
    case CONFIG_METRIC_BLEU:
        return m->bleu;
    case CONFIG_METRIC_CHRF:
        return m->chrf;
    }
    return m->nll;
}

bool trainer_has_best(const Trainer *t) { return t->state.best_update > 0 && !isnan(t->state.best); }

/* Is it better than the best so far? nll: lower; the others: higher. */
static bool improves(const Trainer *t, const ValidMetrics *m) {
    if (!isfinite(m->nll)) return false;
    if (!trainer_has_best(t)) return true;
    double value = deciding(t, m);
    return t->config.valid.metric == CONFIG_METRIC_NLL ? value < t->state.best : value > t->state.best;
}

/* Keeps m's value if it is the best so far, and counts the scheduled validations since. */
static void judge(Trainer *t, ValidMetrics *m) {
    m->best = improves(t, m);
    if (m->best) {
        t->state.best = deciding(t, m);
        t->state.best_nll = m->nll;
        t->state.best_update = m->update;
        t->state.stalled = 0;
        t->origin = (ModelOrigin){m->update, t->state.best, m->nll, m->snapshots};
    } else if (!m->closing) {
        t->state.stalled++;
    }
}

static bool keep_weights(Trainer *t, const ValidMetrics *m, Error *error) {
    if (!m->closing && !trainer_offer_snapshot(t, deciding(t, m), error)) return false;
    if (!m->best) return true;
    if (m->closing && !trainer_keep_scheduled_model(t, error)) return false;
    return trainer_save_model(t, error);
}

bool trainer_validate(Trainer *t, ValidMetrics m, Error *error) {
    double start = clock_seconds();
    double *nll = memory_alloc((size_t)t->valid.pairs, sizeof *nll, "validation losses");
    LossSums loss = valid_loss(nll, t);
    m.update = t->state.update;
    m.epoch = trainer_epoch(t);
    m.loss = loss.objective / (double)loss.tokens;
    m.nll = loss.nll / (double)loss.tokens;
    char *buckets = valid_buckets(&t->valid, nll), *samples = translate_and_score(&m, t);
    m.buckets = buckets;
    m.samples = samples;
    m.seconds = clock_seconds() - start;
    t->state.seconds += m.seconds;
    if (!m.closing) t->state.validated = m.update;
    judge(t, &m);
    bool good = messages_valid(t, &m, error);
    memory_free(nll);
    memory_free(buckets);
    memory_free(samples);
    if (good) trainer_report(t, "training; reload to see more", false);
    return good && keep_weights(t, &m, error);
}
