/* Saving and resuming: what trainer.h's TrainState and the tensors need to go on bit for bit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/memory.h"
#include "model/matmul.h"
#include "run/weights.h"
#include "training/metrics.h"
#include "training/schedule.h"
#include "training/trainer.h"

enum { MOST_FIELDS = 40, FIELD_BYTES = 160 };

/* Scalars as text, in the metadata of the state file. One list serves both directions. */
typedef struct Fields {
    bool loading;
    const Safetensors *file; /* when loading */
    Error *error;
    bool good;
    int count;
    SafetensorsPair pair[MOST_FIELDS];
    char text[MOST_FIELDS][FIELD_BYTES];
} Fields;

/* Saving: appends the text. Loading: the saved text, or "" after an error. */
static const char *field(Fields *f, const char *key, const char *text) {
    if (!f->loading) {
        char *slot = f->text[f->count];
        snprintf(slot, FIELD_BYTES, "%s", text);
        f->pair[f->count++] = (SafetensorsPair){key, slot};
        return slot;
    }
    const char *saved = safetensors_metadata(f->file, key);
    if (saved != NULL) return saved;
    if (f->good)
        f->good =
            error_set(f->error, "%s: has no value for %s, so it is no state of this program; use --fresh to start over",
                      f->file->path, key);
    return "";
}

static void field_integer(Fields *f, const char *key, int64_t *value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, *value);
    *value = strtoll(field(f, key, text), NULL, 10);
}

static void field_int(Fields *f, const char *key, int *value) {
    int64_t wide = *value;
    field_integer(f, key, &wide);
    *value = (int)wide;
}

/* Hexadecimal floating point: exact. */
static void field_double(Fields *f, const char *key, double *value) {
    char text[40];
    snprintf(text, sizeof text, "%a", *value);
    *value = strtod(field(f, key, text), NULL);
}

static void all_fields(Fields *f, Trainer *t) {
    TrainState *s = &t->state;
    field_integer(f, "update", &s->update);
    field_int(f, "epoch", &t->batcher.epoch);
    field_int(f, "next_pair", &t->batcher.next);
    field_integer(f, "adam_updates", &t->adam.updates);
    field_double(f, "seconds", &s->seconds);
    field_double(f, "best", &s->best);
    field_integer(f, "best_update", &s->best_update);
    field_int(f, "stalled", &s->stalled);
    field_integer(f, "validated", &s->validated);
    field_double(f, "window_objective", &s->window.loss.objective);
    field_double(f, "window_nll", &s->window.loss.nll);
    field_integer(f, "window_target_tokens", &s->window.loss.tokens);
    field_integer(f, "window_source_tokens", &s->window.source_tokens);
    field_double(f, "window_seconds", &s->window.seconds);
    field_integer(f, "model_update", &s->model.update);
    field_double(f, "model_value", &s->model.value);
    field_double(f, "model_nll", &s->model.nll);
}

/* What a resume must find equal, or may find different and says so. */
static void identity(char vocabulary[32], char corpus[32], const Trainer *t) {
    snprintf(vocabulary, 32, "%016" PRIx64, weights_vocabulary(t->source, t->target));
    snprintf(corpus, 32, "%016" PRIx64, corpus_hash(&t->train));
}

static const char *metric_name(const Trainer *t) {
    static const char *const names[] = {[CONFIG_METRIC_NLL] = "nll",
                                        [CONFIG_METRIC_EXACT_MATCH] = "exact_match",
                                        [CONFIG_METRIC_BLEU] = "bleu",
                                        [CONFIG_METRIC_CHRF] = "chrf"};
    return names[t->config.valid.metric];
}

static void tensors(SafetensorsTensor out[3], const Trainer *t) {
    const real *data[3] = {t->slab, t->adam.m, t->adam.v};
    const char *name[3] = {"parameters", "adam.m", "adam.v"};
    for (int i = 0; i < 3; i++)
        out[i] = (SafetensorsTensor){.name = name[i],
                                     .type = (SafetensorsType)SAFETENSORS_REAL,
                                     .rank = 1,
                                     .shape = {(int64_t)t->table.total},
                                     .data = data[i]};
}

bool trainer_has_model(const Trainer *t) {
    char *path = run_path(t->run.path, RUN_MODEL);
    bool there = file_exists(path);
    memory_free(path);
    return there;
}

bool trainer_save_model(Trainer *t, Error *error) {
    char *path = run_path(t->run.path, RUN_MODEL);
    bool good = weights_save(path, t->slab, &t->table, weights_vocabulary(t->source, t->target), error);
    memory_free(path);
    return good;
}

bool trainer_save(Trainer *t, Error *error) {
    char vocabulary[32], corpus[32];
    SafetensorsTensor tensor[3];
    Fields f = {.good = true};
    identity(vocabulary, corpus, t);
    all_fields(&f, t);
    field(&f, "vocabulary", vocabulary);
    field(&f, "corpus", corpus);
    field(&f, "metric", metric_name(t));
    field(&f, "machine", cpu_name());
    field(&f, "blas_kernel", matmul_kernel_name());
    tensors(tensor, t);
    if (!run_directory_save_state(&t->run, tensor, 3, f.pair, f.count, error)) return false;
    return t->state.validated > 0 || trainer_save_model(t, error); /* the last, for want of a best */
}

static bool must_equal(const Safetensors *file, const char *key, const char *now, const char *remedy, Error *error) {
    const char *saved = safetensors_metadata(file, key);
    if (saved != NULL && strcmp(saved, now) == 0) return true;
    return error_set(error, "%s: %s was %s and is now %s; %s", file->path, key, saved ? saved : "not recorded", now,
                     remedy);
}

static bool load(Trainer *t, const Safetensors *file, Error *error) {
    char vocabulary[32], corpus[32];
    identity(vocabulary, corpus, t);
    if (!must_equal(file, "vocabulary", vocabulary, "restore the run's tokenizer, or use --fresh", error) ||
        !must_equal(file, "corpus", corpus, "restore the training corpus, or use --fresh", error))
        return false;
    int64_t shape[1] = {(int64_t)t->table.total};
    if (!safetensors_copy(t->slab, file, "parameters", 1, shape, error) ||
        !safetensors_copy(t->adam.m, file, "adam.m", 1, shape, error) ||
        !safetensors_copy(t->adam.v, file, "adam.v", 1, shape, error))
        return false;
    Fields f = {.loading = true, .file = file, .error = error, .good = true};
    all_fields(&f, t);
    if (f.good &&
        (t->batcher.next < 0 || t->batcher.next >= t->train.pairs || t->batcher.epoch < 0 || t->state.update < 0))
        return error_set(error, "%s: its place in the corpus, pair %d of epoch %d, does not exist; use --fresh",
                         file->path, t->batcher.next, t->batcher.epoch + 1);
    return f.good;
}

static void say_if_changed(Trainer *t, const Safetensors *file, const char *key, const char *now) {
    const char *saved = safetensors_metadata(file, key);
    if (saved != NULL && strcmp(saved, now) != 0)
        log_line(&t->log, "changed    %s: %s (was %s); the numbers may differ in their last bits from here on", key,
                 now, saved);
}

/* Values of two metrics cannot be compared: with another metric the search for the best begins anew. */
static void forget_other_metric(Trainer *t, const Safetensors *file) {
    const char *saved = safetensors_metadata(file, "metric");
    if (saved == NULL || strcmp(saved, metric_name(t)) == 0) return;
    log_line(&t->log, "changed    the best so far, by %s, is forgotten", saved);
    t->state.best_update = 0;
    t->state.model.update = 0;
    t->state.stalled = 0;
}

bool trainer_resume(Trainer *t, Error *error) {
    const ConfigTrain *c = &t->config.train;
    Safetensors file;
    if (!run_directory_load_state(&t->run, &file, error)) return false;
    bool good = load(t, &file, error);
    if (good) {
        int epoch = t->batcher.epoch, next = t->batcher.next;
        batcher_free(&t->batcher);
        batcher_init(&t->batcher, &t->train, c->seed, epoch, next);
        forget_other_metric(t, &file);
        say_if_changed(t, &file, "machine", cpu_name());
        say_if_changed(t, &file, "blas_kernel", matmul_kernel_name());
        log_line(&t->log, "resume     after update %" PRId64 ", epoch %d, learning rate %.3g", t->state.update,
                 epoch + 1, schedule_lr(c->schedule, c->lr, c->warmup, c->updates, t->state.update + 1));
        char *path = run_path(t->run.path, RUN_METRICS);
        good = metrics_append_resume(path, t->state.update, error);
        memory_free(path);
    }
    safetensors_free(&file);
    return good;
}
