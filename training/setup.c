/* From a configuration to a trainer that is ready for its next update; prints the plan. */
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/progress.h"
#include "model/matmul.h"
#include "run/weights.h"
#include "tokenizer/text_report.h"
#include "training/corpora.h"
#include "training/ema.h"
#include "training/init_from.h"
#include "training/model_files.h"
#include "training/state.h"
#include "training/validate.h"

static void note_small(Trainer *t, const Tokenizer *tokenizer, const char *path) {
    const ConfigTokenizerSection *c = &t->config.tokenizer;
    if (c->type == TOKENIZER_BYTE || tokenizer_vocab_size(tokenizer) >= c->vocab_size) return;
    log_line(&t->log, "note       %s: the text gives %d pieces; %d were wanted", path, tokenizer_vocab_size(tokenizer),
             c->vocab_size);
}

/* Loads the tokenizer of a run that goes on; learns and saves that of a new one. */
static Tokenizer *tokenizer_for(Trainer *t, RunFile file, const Lines *const *texts, int count, bool resumes,
                                Error *error) {
    char *path = run_path(t->run.path, file);
    Tokenizer *tokenizer;
    if (resumes) {
        tokenizer = tokenizer_load(path, error);
    } else {
        tokenizer = corpora_learn_tokenizer(&t->config, texts, count, error);
        if (tokenizer != NULL && !tokenizer_save(tokenizer, path, error)) {
            tokenizer_free(tokenizer);
            tokenizer = NULL;
        }
        if (tokenizer != NULL) note_small(t, tokenizer, path);
    }
    memory_free(path);
    return tokenizer;
}

static bool get_tokenizers(Trainer *t, const ParallelText *text, bool resumes, Error *error) {
    const Lines *both[2] = {&text->source, &text->target};
    if (t->config.tokenizer.shared) {
        t->source = t->target = tokenizer_for(t, RUN_TOKENIZER, both, 2, resumes, error);
    } else {
        t->source = tokenizer_for(t, RUN_TOKENIZER_SOURCE, both, 1, resumes, error);
        if (t->source != NULL) t->target = tokenizer_for(t, RUN_TOKENIZER_TARGET, both + 1, 1, resumes, error);
    }
    return t->target != NULL;
}

/* What reading changed, once a file. */
static void note_changes(Trainer *t, const char *path, const Lines *lines) {
    const ConfigTokenizerSection *c = &t->config.tokenizer;
    char report[TEXT_REPORT_BYTES];
    if (lines->had_bom) log_line(&t->log, "note       %s: the byte order mark at its start is dropped", path);
    if (lines->had_cr) log_line(&t->log, "note       %s: carriage returns at line ends are dropped", path);
    if (text_report_invalid(report, path, lines))
        log_line(&t->log, "note       %s; what is wrong is read as U+FFFD; convert the file with iconv", report);
    if (lines->count > 0 && (c->normalization != NORMALIZATION_NONE || c->lowercase)) {
        text_report_changes(report, lines, c->normalization, c->lowercase);
        log_line(&t->log, "note       %s: %s", path, report);
    }
}

static void note_all(Trainer *t, const ParallelText *text) {
    if (text->files > 0) progress_show("checking the text ...");
    for (int i = 0; i < text->files; i++) note_changes(t, text->file[i].path, &text->file[i].lines);
}

void trainer_plan_threads(ConfigTrain *c) {
    if (c->threads == 0) c->threads = cpu_cores();
    if (c->lanes == 0) c->lanes = c->threads;
}

void trainer_make_model(Trainer *t, int source_vocab, int target_vocab) {
    const ConfigTrain *c = &t->config.train;
    ModelConfig m = weights_model_config(&t->config, source_vocab, target_vocab);
    t->table = transformer_table(&m);
    t->slab =
        memory_alloc(t->table.total, sizeof(real), "parameters (lower [model] d_model or [tokenizer] vocab_size)");
    transformer_init(&t->model, &m, t->slab);
    transformer_positions_init(&t->positions, &m);
    param_init(t->slab, &t->table, c->seed);
    t->served = c->ema > 0 ? ema_new(t->slab, t->table.total) : t->slab;
    transformer_init(&t->served_model, &m, t->served);
    lanes_init(&t->lanes, &m, t->table.total, c->lanes, c->threads);
    t->lanes.rdrop = c->rdrop;
    optimizer_init(&t->optimizer, c, &t->table);
    batcher_init(&t->batcher, &t->train, c->seed, 0, 0);
    norms_init(&t->norms, &t->table);
    arena_init(&t->ids, "ids of an update (lower [train] batch_tokens)");
}

static void print_plan(Trainer *t) {
    const ConfigModel *m = &t->config.model;
    const ConfigTrain *c = &t->config.train;
    log_line(&t->log, "vocabulary %d%s%d pieces", tokenizer_vocab_size(t->source),
             t->source == t->target ? " shared, " : " source and ", tokenizer_vocab_size(t->target));
    log_line(&t->log,
             "model      %d+%d layers, width %d+%d, %d heads, feed-forward %d, %s-norm: %zu parameters in %d tensors",
             m->encoder_layers, m->decoder_layers, m->encoder_d_model, m->decoder_d_model, m->heads, m->ffn_dim,
             m->norm == CONFIG_NORM_PRE ? "pre" : "post", t->table.total, t->table.count);
    log_line(&t->log, "machine    %s: %d threads, %d lanes, BLAS kernel %s", cpu_name(), c->threads, c->lanes,
             matmul_kernel_name());
    log_line(&t->log, "update     %lld target tokens in pieces of about %d rows",
             (long long)c->batch_tokens * c->accumulate, c->piece_rows);
    if (t->valid.pairs > 0) trainer_print_signatures(t);
}

static bool write_config(Trainer *t, Error *error) {
    char *path = run_path(t->run.path, RUN_CONFIG);
    bool good = config_write(&t->config, path, error);
    memory_free(path);
    return good;
}

/* A linear or cosine schedule ends at [train] updates: with another number the curve is another one from here on. */
static void warn_of_jump(Trainer *t, const Config *saved) {
    const ConfigTrain *c = &t->config.train;
    bool ends = c->schedule == CONFIG_SCHEDULE_LINEAR || c->schedule == CONFIG_SCHEDULE_COSINE;
    if (!ends || c->updates == saved->train.updates) return;
    char *name = config_get_text(&t->config, "train.schedule");
    log_line(&t->log, "changed    the %s schedule ends at update %d, not %d: the learning rate jumps", name, c->updates,
             saved->train.updates);
    memory_free(name);
}

static bool apply_saved_config(Trainer *t, Error *error) {
    Config saved;
    char *path = run_path(t->run.path, RUN_CONFIG);
    bool good = config_load(&saved, path, NULL, 0, error);
    if (good) {
        ConfigChanges changes;
        const char *from = t->config.train.init_from;
        if (from[0] != '\0' && strcmp(from, saved.train.init_from) == 0) init_from_adopt_keys(t, &saved);
        good = config_resume(&changes, &t->config, &saved, path, error);
        for (int i = 0; good && i < changes.count; i++)
            log_line(&t->log, "changed    %s.%s = %s (was %s)", changes.change[i].section, changes.change[i].key,
                     changes.change[i].asked, changes.change[i].saved);
        if (good) warn_of_jump(t, &saved);
        if (good) config_changes_free(&changes);
        config_free(&saved);
    }
    memory_free(path);
    return good;
}

/* config.ini is written last: what was refused must not change the run. `from` is what a new run starts from; its slab is
 * NULL where that is nothing. */
static bool prepare(Trainer *t, const ParallelText *text, LoadedRun *from, Error *error) {
    bool resumes = run_directory_has_state(&t->run), starts = !resumes && from->slab != NULL;
    if (!resumes && trainer_has_model(t))
        return error_set(error,
                         "%s: holds a model but no state to go on from; use --fresh, which moves it aside, or "
                         "another [output] dir",
                         t->run.path);
    if (!resumes && !starts && t->config.train.init_from[0] != '\0')
        return error_set(error, "%s: its state went away while it was being opened; run the command again",
                         t->run.path);
    if (resumes && !apply_saved_config(t, error)) return false;
    if (starts) init_from_adopt_keys(t, &from->config);
    trainer_plan_threads(&t->config.train);
    note_all(t, text);
    note_all(t, &t->valid_text);
    if (!(starts ? init_from_take_tokenizers(t, from, error) : get_tokenizers(t, text, resumes, error))) return false;
    if (!corpora_encode(t, text, error)) return false;
    trainer_make_model(t, tokenizer_vocab_size(t->source), tokenizer_vocab_size(t->target));
    print_plan(t);
    if (starts) init_from_copy_weights(t, from);
    if (resumes && !trainer_resume(t, error)) return false;
    return write_config(t, error) && run_directory_describe(&t->run, &t->config, tokenizer_vocab_size(t->source),
                                                            tokenizer_vocab_size(t->target), error);
}

static bool open_run(Trainer *t, bool fresh, Error *error) {
    if (!run_directory_open(&t->run, t->config.output.dir, fresh, error)) return false;
    char *path = run_path(t->run.path, RUN_LOG);
    log_open(&t->log, path);
    memory_free(path);
    path = run_path(t->run.path, RUN_METRICS);
    metrics_open(&t->metrics, path);
    memory_free(path);
    if (t->run.aside != NULL) log_line(&t->log, "fresh      the old run was moved to %s", t->run.aside);
    return true;
}

void trainer_keep_text(Trainer *t, ParallelText *text) {
    double rate = t->config.tokenizer.dropout;
    if (!(rate > 0)) return;
    t->train_text = *text;
    *text = (ParallelText){0};
    encoding_dropout_init(&t->dropout, &t->train_text, t->source, t->target, rate, t->config.data.max_length,
                          t->config.train.seed);
}

/* The corpora, and the run to start from, are read before the directory is touched: a wrong path must not cost an old run
 * its place. */
bool trainer_open(Trainer *t, Config *config, bool fresh, Error *error) {
    double start = clock_seconds();
    matmul_serial_blas();
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, which says so */
    *t = (Trainer){.config = *config, .run.lock = -1};
    ParallelText text = {0};
    LoadedRun from = {0};
    bool good = corpora_read(&text, &t->valid_text, &t->config, error) &&
                init_from_read(&from, &t->config, fresh, error) && open_run(t, fresh, error) &&
                prepare(t, &text, &from, error);
    if (good) corpus_places_init(&t->places, &text, t->config.data.train_tsv[0] != '\0' ? 1 : 2);
    if (good) trainer_keep_text(t, &text);
    loaded_run_close(&from);
    parallel_text_free(&text);
    if (good)
        log_line(&t->log, "ready      after %.2f s", clock_seconds() - start);
    else
        trainer_close(t);
    return good;
}

void trainer_close(Trainer *t) {
    if (t->slab != NULL) {
        transformer_free(&t->model);
        transformer_free(&t->served_model);
        if (t->served != t->slab) memory_free(t->served);
        transformer_positions_free(&t->positions);
        lanes_free(&t->lanes);
        optimizer_free(&t->optimizer);
        batcher_free(&t->batcher);
        norms_free(&t->norms);
        arena_free(&t->ids);
    }
    event_file_close(&t->events);
    memory_free(t->slab);
    param_table_free(&t->table);
    corpus_free(&t->train);
    corpus_free(&t->valid);
    parallel_text_free(&t->valid_text);
    corpus_places_free(&t->places);
    encoding_dropout_free(&t->dropout);
    parallel_text_free(&t->train_text);
    if (t->target != t->source) tokenizer_free(t->target);
    tokenizer_free(t->source);
    metrics_close(&t->metrics);
    owed_free(&t->owed);
    log_close(&t->log);
    run_directory_close(&t->run);
    config_free(&t->config);
    *t = (Trainer){0};
}
