/* From a configuration to a trainer that is ready for its next update; prints the plan. */
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "model/matmul.h"
#include "run/weights.h"
#include "tokenizer/text_report.h"
#include "training/corpora.h"
#include "training/init_from.h"
#include "training/trainer.h"

static Tokenizer *learn(const Trainer *t, const Lines *const *texts, int count, Error *error) {
    const ConfigTokenizerSection *c = &t->config.tokenizer;
    TokenizerOptions options = {c->type, c->vocab_size, c->normalization, c->lowercase, c->min_frequency};
    return tokenizer_learn(texts, count, &options, error);
}

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
        log_progress(&t->log, "learning %d pieces ...", t->config.tokenizer.vocab_size);
        tokenizer = learn(t, texts, count, error);
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
    for (int i = 0; i < text->files; i++) note_changes(t, text->file[i].path, &text->file[i].lines);
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
    lanes_init(&t->lanes, &m, t->table.total, c->lanes, c->threads);
    t->lanes.rdrop = c->rdrop;
    adam_init(&t->adam, t->table.total, c->adam_beta1, c->adam_beta2, c->adam_eps);
    batcher_init(&t->batcher, &t->train, c->seed, 0, 0);
    arena_init(&t->update, "ids of an update (lower [train] batch_tokens)");
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

/* A linear schedule ends at [train] updates: with another number the curve is another one from here on. */
static void warn_of_jump(Trainer *t, const Config *saved) {
    if (t->config.train.schedule == CONFIG_SCHEDULE_LINEAR && t->config.train.updates != saved->train.updates)
        log_line(&t->log, "changed    the linear schedule ends at update %d, not %d: the learning rate jumps",
                 t->config.train.updates, saved->train.updates);
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
    if (t->config.train.threads == 0) t->config.train.threads = cpu_cores();
    if (t->config.train.lanes == 0) t->config.train.lanes = t->config.train.threads;
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
        transformer_positions_free(&t->positions);
        lanes_free(&t->lanes);
        adam_free(&t->adam);
        batcher_free(&t->batcher);
        arena_free(&t->update);
    }
    memory_free(t->slab);
    param_table_free(&t->table);
    corpus_free(&t->train);
    corpus_free(&t->valid);
    parallel_text_free(&t->valid_text);
    encoding_dropout_free(&t->dropout);
    parallel_text_free(&t->train_text);
    if (t->target != t->source) tokenizer_free(t->target);
    tokenizer_free(t->source);
    log_close(&t->log);
    run_directory_close(&t->run);
    config_free(&t->config);
    *t = (Trainer){0};
}
