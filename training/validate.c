/* Validation: the two losses without dropout, and how many greedy translations are exactly the reference. */
#include <omp.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "training/metrics.h"
#include "training/trainer.h"

enum { SAMPLES = 3 };

/* Pieces in the order of the corpus; losses are added in that order. */
static LossSums valid_loss(Trainer *t) {
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
#pragma omp parallel for num_threads(t->lanes.threads) schedule(dynamic, 1)
    for (int i = 0; i < pieces; i++) {
        Arena *arena = &t->lanes.arena[omp_get_thread_num()];
        ArenaMark mark = arena_mark(arena);
        int count = first[i + 1] - first[i], *pairs = arena_array(arena, int, "pairs", count);
        for (int j = 0; j < count; j++) pairs[j] = first[i] + j;
        Batch batch = corpus_batch(c, pairs, count, arena);
        sums[i] =
            transformer_loss(NULL, &batch, &t->model, &t->positions, t->config.train.label_smoothing, NULL, arena);
        arena_release(arena, mark);
    }
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

/* Percentage of all validation lines whose greedy translation equals the reference, byte for byte. */
static double exact_match(Trainer *t) {
    const Lines *source = &t->valid_text.source, *target = &t->valid_text.target;
    int count = (int)source->count, exact = 0;
    Translation *out = memory_alloc((size_t)count, sizeof *out, "validation translations");
    Translator translator;
    translator_init(&translator, &t->model, &t->positions, t->source, t->target, &t->config.decode, t->lanes.threads,
                    t->lanes.arena);
    log_progress(&t->log, "translating %d validation sentences ...", count);
    translator_translate(out, &translator, source->line, count);
    for (int i = 0; i < count; i++) {
        Line reference = target->line[i];
        exact += strlen(out[i].text) == reference.length && memcmp(out[i].text, reference.text, reference.length) == 0;
    }
    for (int i = 0; i < SAMPLES && i < count; i++) show_sample(t, out[i * count / SAMPLES].text, i * count / SAMPLES);
    for (int i = 0; i < count; i++) memory_free(out[i].text);
    translator_free(&translator);
    memory_free(out);
    return 100.0 * exact / count;
}

/* Is the metric better than the best so far? nll: lower; exact match: higher. */
static bool improves(const Trainer *t, const ValidMetrics *m) {
    if (!isfinite(m->nll)) return false;
    if (t->state.best_update == 0) return true;
    return t->config.valid.metric == CONFIG_METRIC_NLL ? m->nll < t->state.best : m->exact_match > t->state.best;
}

bool trainer_validate(Trainer *t, Error *error) {
    double start = clock_seconds();
    LossSums loss = valid_loss(t);
    ValidMetrics m = {.update = t->state.update,
                      .epoch = t->batcher.epoch + 1 - batcher_at_epoch_start(&t->batcher),
                      .loss = loss.objective / (double)loss.tokens,
                      .nll = loss.nll / (double)loss.tokens};
    m.exact_match = exact_match(t);
    m.seconds = clock_seconds() - start;
    t->state.seconds += m.seconds;
    m.best = improves(t, &m);
    t->state.validated = m.update;
    char verdict[64];
    if (m.best) {
        t->state.best = t->config.valid.metric == CONFIG_METRIC_NLL ? m.nll : m.exact_match;
        t->state.best_update = m.update;
        t->state.stalled = 0;
        snprintf(verdict, sizeof verdict, "new best");
    } else {
        t->state.stalled++;
        snprintf(verdict, sizeof verdict, "stalled %d times", t->state.stalled);
    }
    log_line(&t->log, "[valid] update %lld  epoch %d  loss %.4f  nll %.4f  ppl %.2f  exact match %.1f%%  %.1fs  %s",
             (long long)m.update, m.epoch, m.loss, m.nll, exp(m.nll), m.exact_match, m.seconds, verdict);
    char *path = run_path(t->run.path, RUN_METRICS);
    bool good = metrics_append_valid(path, &m, error);
    memory_free(path);
    return good && (!m.best || trainer_save_model(t, error));
}
