#include "training/state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "model/matmul.h"
#include "run/weights.h"
#include "training/model_files.h"
#include "training/schedule.h"

/* Grows when an older program could not go on from a state, or this one not from an older program's. */
#define STATE_FORMAT "2"

enum { MOST_FIELDS = 32, FIELD_BYTES = 2400, MOST_SLABS = 4 };

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
        assert(f->count < MOST_FIELDS);
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

static void field_snapshots(Fields *f, const char *key, SnapshotList *list) {
    char *text = snapshots_text(list);
    const char *saved = field(f, key, text);
    if (!snapshots_parse(list, saved) && f->good)
        f->good = error_set(f->error, "%s: %s is no list of snapshots; use --fresh to start over", f->file->path, key);
    memory_free(text);
}

static void all_fields(Fields *f, Trainer *t) {
    TrainState *s = &t->state;
    field_integer(f, "update", &s->update);
    field_int(f, "epoch", &t->batcher.epoch);
    field_int(f, "next_pair", &t->batcher.next);
    field_integer(f, "adam_updates", &t->optimizer.updates);
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
    field_integer(f, "concluded", &s->concluded);
    field_snapshots(f, "snapshots", &s->snapshots);
    if (t->config.train.schedule == CONFIG_SCHEDULE_PLATEAU) field_int(f, "reductions", &s->reductions);
    field_double(f, "best_nll", &s->best_nll);
    field_integer(f, "model_update", &t->origin.update);
    field_double(f, "model_value", &t->origin.value);
    field_double(f, "model_nll", &t->origin.nll);
    field_int(f, "model_snapshots", &t->origin.snapshots);
}

/* What a resume must find equal, or may find different and says so. */
typedef struct Identity {
    char vocabulary[32], corpus[32], valid_corpus[32];
} Identity;

static Identity identity(const Trainer *t) {
    Identity id;
    snprintf(id.vocabulary, sizeof id.vocabulary, "%016" PRIx64, weights_vocabulary(t->source, t->target));
    snprintf(id.corpus, sizeof id.corpus, "%016" PRIx64, corpus_hash(&t->train));
    snprintf(id.valid_corpus, sizeof id.valid_corpus, "%016" PRIx64, corpus_hash(&t->valid));
    return id;
}

/* A slab of reals in the state. One list serves both directions. */
typedef struct Slab {
    const char *name;
    real *data; /* [table.total] */
} Slab;

/* Those that there are; returns how many. */
static int slabs(Slab out[MOST_SLABS], const Trainer *t) {
    bool sgd = t->config.train.optimizer == CONFIG_OPTIMIZER_SGD;
    int count = 0;
    out[count++] = (Slab){"parameters", t->slab};
    out[count++] = (Slab){sgd ? "sgd.m" : "adam.m", t->optimizer.m};
    if (!sgd) out[count++] = (Slab){"adam.v", t->optimizer.v};
    if (t->served != t->slab) out[count++] = (Slab){"ema", t->served};
    return count;
}

static int tensors(SafetensorsTensor out[MOST_SLABS], const Trainer *t) {
    Slab slab[MOST_SLABS];
    int count = slabs(slab, t);
    for (int i = 0; i < count; i++)
        out[i] = (SafetensorsTensor){.name = slab[i].name,
                                     .type = (SafetensorsType)SAFETENSORS_REAL,
                                     .rank = 1,
                                     .shape = {(int64_t)t->table.total},
                                     .data = slab[i].data};
    return count;
}

static bool write_state(Trainer *t, Error *error) {
    char *metric = config_get_text(&t->config, "valid.metric");
    SafetensorsTensor tensor[MOST_SLABS];
    Fields f = {.good = true};
    Identity id = identity(t);
    all_fields(&f, t);
    field(&f, "state_format", STATE_FORMAT);
    field(&f, "vocabulary", id.vocabulary);
    field(&f, "corpus", id.corpus);
    field(&f, "valid_corpus", id.valid_corpus);
    field(&f, "metric", metric);
    field(&f, "machine", cpu_name());
    field(&f, "blas_kernel", matmul_kernel_name());
    memory_free(metric);
    return run_directory_save_state(&t->run, tensor, tensors(tensor, t), f.pair, f.count, error);
}

bool trainer_save_state(Trainer *t, Error *error) {
    if (!trainer_write_owed(t, error) || !write_state(t, error)) return false;
    snapshots_prune(t->run.path, &t->state.snapshots, &t->saved_snapshots, t->saved_update);
    t->saved_snapshots = t->state.snapshots;
    t->saved_update = t->state.update;
    return true;
}

bool trainer_save(Trainer *t, Error *error) {
    if (!trainer_save_state(t, error)) return false;
    return t->state.best_update > 0 || trainer_must_save_model(t, error); /* the last, for want of a best */
}

/* Files of other programs, and states of other versions of this one, are named as what they are. */
static bool check_format(const Safetensors *file, Error *error) {
    const char *format = safetensors_metadata(file, "state_format");
    if (format != NULL && strcmp(format, STATE_FORMAT) == 0) return true;
    if (safetensors_metadata(file, "adam_updates") == NULL)
        return error_set(error,
                         "%s: is no state of a training; put the run's own state back, or use --fresh to start "
                         "over",
                         file->path);
    bool newer = format != NULL && atoi(format) > atoi(STATE_FORMAT);
    return error_set(
        error,
        "%s: is a state of %s version of this program, in format %s, where this one reads format %s; go on "
        "with that version, or use --fresh to start over",
        file->path, newer ? "a newer" : "an older", format != NULL ? format : "1", STATE_FORMAT);
}

static bool must_equal(const Safetensors *file, const char *key, const char *now, const char *remedy, Error *error) {
    const char *saved = safetensors_metadata(file, key);
    if (saved != NULL && strcmp(saved, now) == 0) return true;
    return error_set(error, "%s: %s was %s and is now %s; %s", file->path, key, saved ? saved : "not recorded", now,
                     remedy);
}

static bool load(Trainer *t, const Safetensors *file, Error *error) {
    Identity id = identity(t);
    if (!check_format(file, error) ||
        !must_equal(file, "vocabulary", id.vocabulary, "restore the run's tokenizer, or use --fresh", error) ||
        !must_equal(file, "corpus", id.corpus, "restore the training corpus, or use --fresh", error))
        return false;
    Slab slab[MOST_SLABS];
    int64_t shape[1] = {(int64_t)t->table.total};
    for (int i = 0, count = slabs(slab, t); i < count; i++)
        if (!safetensors_copy(slab[i].data, file, slab[i].name, 1, shape, error)) return false;
    Fields f = {.loading = true, .file = file, .error = error, .good = true};
    all_fields(&f, t);
    if (f.good &&
        (t->batcher.next < 0 || t->batcher.next >= t->train.pairs || t->batcher.epoch < 0 || t->state.update < 0))
        return error_set(error, "%s: its place in the corpus, pair %d of epoch %d, does not exist; use --fresh",
                         file->path, t->batcher.next, t->batcher.epoch + 1);
    return f.good;
}

/* The saved value where it is another one than now, else NULL. */
static const char *changed(const Safetensors *file, const char *key, const char *now) {
    const char *saved = safetensors_metadata(file, key);
    return saved != NULL && strcmp(saved, now) != 0 ? saved : NULL;
}

static void say_if_changed(Trainer *t, const Safetensors *file, const char *key, const char *now) {
    const char *saved = changed(file, key, now);
    if (saved != NULL)
        log_line(&t->log, "changed    %s: %s (was %s); the numbers may differ in their last bits from here on", key,
                 now, saved);
}

/* Values of two metrics, or on two texts, cannot be compared: then the search for the best begins anew. The model stays
 * until a better one is found. */
static void forget_other_measure(Trainer *t, const Safetensors *file) {
    char *asked = config_get_text(&t->config, "valid.metric");
    const char *metric = changed(file, "metric", asked);
    bool text = changed(file, "valid_corpus", identity(t).valid_corpus) != NULL;
    memory_free(asked);
    if (metric != NULL) log_line(&t->log, "changed    the best so far, by %s, is forgotten", metric);
    if (text) log_line(&t->log, "changed    the validation text; the best so far is forgotten");
    if (metric == NULL && !text) return;
    t->state.best = t->origin.value = (double)NAN;
    t->state.stalled = 0;
    if (t->config.average.best > 0) t->state.snapshots = (SnapshotList){0};
}

/* The last snapshots and the best ones are different lists. */
static void forget_other_snapshots(Trainer *t) {
    SnapshotList *list = &t->state.snapshots;
    const ConfigAverage *a = &t->config.average;
    bool last = list->count > 0 && isnan(list->entry[0].value);
    if (list->count == 0 || (last ? a->last > 0 : a->best > 0)) return;
    log_line(&t->log, "changed    the %d snapshots of [average] %s are forgotten", list->count, last ? "last" : "best");
    *list = (SnapshotList){0};
}

bool trainer_resume(Trainer *t, Error *error) {
    Safetensors file;
    if (!run_directory_load_state(&t->run, &file, error)) return false;
    bool good = load(t, &file, error);
    if (good) {
        int epoch = t->batcher.epoch, next = t->batcher.next;
        batcher_free(&t->batcher);
        batcher_init(&t->batcher, &t->train, t->config.train.seed, epoch, next);
        t->saved_snapshots = t->state.snapshots;
        t->saved_update = t->state.update;
        forget_other_measure(t, &file);
        forget_other_snapshots(t);
        say_if_changed(t, &file, "machine", cpu_name());
        say_if_changed(t, &file, "blas_kernel", matmul_kernel_name());
        log_line(&t->log, "resume     after update %" PRId64 ", epoch %d, learning rate %.3g", t->state.update,
                 epoch + 1, schedule_lr(&t->config, t->state.reductions, t->state.update + 1));
    }
    safetensors_free(&file);
    return good;
}
