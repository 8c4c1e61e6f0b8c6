#include "training/corpora.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/progress.h"
#include "tokenizer/text_report.h"
#include "training/corpus_cache.h"

static bool read_text(ParallelText *text, const char *source, const char *target, const char *tsv, Error *error) {
    return tsv[0] != '\0' ? parallel_text_read_tsv(text, tsv, error) : parallel_text_read(text, source, target, error);
}

/* [tokenizer] invalid_utf8 = reject. */
static bool all_valid(const ParallelText *text, Error *error) {
    char report[TEXT_REPORT_BYTES];
    for (int i = 0; i < text->files; i++)
        if (text_report_invalid(report, text->file[i].path, &text->file[i].lines))
            return error_set(error, "%s; convert the file with iconv, or set [tokenizer] invalid_utf8 = replace",
                             report);
    return true;
}

bool corpora_read(ParallelText *train, ParallelText *valid, const Config *config, Error *error) {
    const ConfigData *d = &config->data;
    *train = *valid = (ParallelText){0};
    bool validates = d->valid_source[0] != '\0' || d->valid_tsv[0] != '\0';
    bool good = read_text(train, d->train_source, d->train_target, d->train_tsv, error) &&
                (!validates || read_text(valid, d->valid_source, d->valid_target, d->valid_tsv, error));
    if (good && config->tokenizer.invalid_utf8 == INVALID_UTF8_REJECT)
        good = all_valid(train, error) && all_valid(valid, error);
    if (good) return true;
    parallel_text_free(train);
    parallel_text_free(valid);
    return false;
}

Tokenizer *corpora_learn_tokenizer(const Config *config, const Lines *const *texts, int count, Error *error) {
    const ConfigTokenizerSection *c = &config->tokenizer;
    TokenizerOptions options = {c->type, c->vocab_size, c->normalization, c->lowercase, c->min_frequency};
    return tokenizer_learn(texts, count, &options, error);
}

/* Saves the ids for the next start. Training does not depend on it: a failure is said, and that is all. */
static bool save(Trainer *t, const Corpus *corpus, const char *directory, const char *path, const CorpusKey *key) {
    Error error;
    if (file_make_directories(directory, &error) && corpus_cache_save(corpus, path, key, &error)) return true;
    log_line(&t->log, "note       %s; training goes on without a cache of the encoded text", error.text);
    return false;
}

/* All lines of the text as ids, from the run's cache where that has them, else saved there where it can be written.
 * Can it? */
static bool encode(Trainer *t, Corpus *corpus, const ParallelText *text, const char *name, bool writable) {
    char *directory = run_path(t->run.path, RUN_CACHE), *path = file_join(directory, name);
    CorpusKey key = corpus_key(text, t->source, t->target);
    CacheState state = corpus_cache_load(corpus, path, &key, text, t->source, t->target);
    if (state == CACHE_DAMAGED) log_line(&t->log, "note       %s: is damaged; the text is encoded again", path);
    if (state != CACHE_GOOD) {
        corpus_encode(corpus, text, t->source, t->target);
        writable = writable && save(t, corpus, directory, path, &key);
    }
    memory_free(path);
    memory_free(directory);
    return writable;
}

/* A filter that is off has no number. */
static const char *dropped(char out[16], int count, bool on) {
    snprintf(out, 16, on ? "%d" : "-", count);
    return out;
}

static void print_pairs(Trainer *t, const char *name, const Corpus *c, const CorpusFilter *f) {
    char length[16], ratio[16], duplicates[16];
    log_line(&t->log, "%-10s %9d %9d %11d %9s %14s %10s", name, c->lines, c->pairs, c->empty_side,
             dropped(length, c->too_long, f->max_length > 0), dropped(ratio, c->uneven_lengths, f->max_ratio > 0),
             dropped(duplicates, c->duplicates, f->drop_duplicates));
}

static void print_side(Trainer *t, const char *name, const char *side, const Corpus *c, const CorpusSide *s) {
    SideCounts n = corpus_count(s, c->pairs);
    log_line(&t->log, "%-6s %-6s %9" PRId64 " %9.2f %9d %27" PRId64, name, side, n.tokens,
             c->pairs > 0 ? (double)n.tokens / c->pairs : 0, n.longest, n.in_bytes);
}

/* The tables: pairs by what became of them, then tokens, without </s>, of the pairs that were kept. */
static void print_corpora(Trainer *t, const CorpusFilter *train, const CorpusFilter *valid) {
    log_line(&t->log, "corpus         pairs      kept  empty side  too long  over max_ratio  duplicate");
    print_pairs(t, "train", &t->train, train);
    if (t->valid.lines > 0) print_pairs(t, "valid", &t->valid, valid);
    log_line(&t->log, "corpus side       tokens   average   longest  characters in byte tokens");
    print_side(t, "train", "source", &t->train, &t->train.source);
    print_side(t, "train", "target", &t->train, &t->train.target);
    if (t->valid.lines == 0) return;
    print_side(t, "valid", "source", &t->valid, &t->valid.source);
    print_side(t, "valid", "target", &t->valid, &t->valid.target);
}

static bool require_pairs(const Corpus *c, const ParallelText *text, const char *purpose, Error *error) {
    return c->pairs > 0 || error_set(error,
                                     "%s: no pair is left to %s; raise [data] max_length or max_ratio, or check the "
                                     "files",
                                     text->file[0].path, purpose);
}

static bool learn_both(Trainer *t, const ParallelText *train, Error *error) {
    const Lines *both[2] = {&train->source, &train->target};
    bool shared = t->config.tokenizer.shared;
    t->source = corpora_learn_tokenizer(&t->config, both, shared ? 2 : 1, error);
    t->target = shared || t->source == NULL ? t->source : corpora_learn_tokenizer(&t->config, both + 1, 1, error);
    return t->target != NULL;
}

bool corpora_learn(Trainer *t, const ParallelText *train, Error *error) {
    const ConfigData *d = &t->config.data;
    if (t->target == NULL && !learn_both(t, train, error)) return false;
    corpus_encode(&t->train, train, t->source, t->target);
    corpus_filter(&t->train, train, &(CorpusFilter){d->max_length, d->max_ratio, d->drop_duplicates});
    return require_pairs(&t->train, train, "train on", error);
}

bool corpora_encode(Trainer *t, const ParallelText *train, Error *error) {
    const ConfigData *d = &t->config.data;
    CorpusFilter filter = {d->max_length, d->max_ratio, d->drop_duplicates},
                 valid_filter = {.max_length = d->max_length};
    bool validates = t->valid_text.source.count > 0;
    progress_show("checking the corpus ...");
    bool writable = encode(t, &t->train, train, "train.safetensors", true);
    corpus_filter(&t->train, train, &filter);
    if (validates) {
        encode(t, &t->valid, &t->valid_text, "valid.safetensors", writable);
        corpus_filter(&t->valid, &t->valid_text, &valid_filter);
    }
    print_corpora(t, &filter, &valid_filter);
    return require_pairs(&t->train, train, "train on", error) &&
           (!validates || require_pairs(&t->valid, &t->valid_text, "validate on", error));
}
