#include "measuring/subject.h"

#include <string.h>

#include "base/cpu.h"
#include "measuring/made_up.h"
#include "model/matmul.h"
#include "training/corpora.h"

enum { MADE_UP_TOKENS = 1 << 19, MADE_UP_SEED = 1 };

/* Paths are required keys; made-up sentences need none. */
static const char STANDARD[] =
    "[data]\ntrain_source = made-up\ntrain_target = made-up\n"
    "[tokenizer]\nvocab_size = 10000\n"
    "[model]\nd_model = 128\nencoder_layers = 4\ndecoder_layers = 4\nheads = 4\nffn_dim = 256\ndropout = 0.3\n"
    "[train]\nbatch_tokens = 4096\nepochs = 1\nlr = 0.0005\n"
    "[output]\ndir = made-up\n";

bool subject_standard_config(Config *config, const char *const *overrides, int count, Error *error) {
    return config_parse(config, "standard model", STANDARD, strlen(STANDARD), overrides, count, error);
}

static void make_up(Trainer *t, int length) {
    int pairs = MADE_UP_TOKENS / (length ? length : 16), vocab = t->config.tokenizer.vocab_size;
    made_up_corpus(&t->train, pairs > 8 ? pairs : 8, length, vocab, vocab, MADE_UP_SEED);
    trainer_make_model(t, vocab, vocab);
}

static Tokenizer *learn(const Trainer *t, const Lines *const *texts, int count, Error *error) {
    const ConfigTokenizerSection *c = &t->config.tokenizer;
    TokenizerOptions options = {c->type, c->vocab_size, c->normalization, c->lowercase, c->min_frequency};
    return tokenizer_learn(texts, count, &options, error);
}

static bool read_corpus(Trainer *t, const ParallelText *text, Error *error) {
    const ConfigData *d = &t->config.data;
    const Lines *both[2] = {&text->source, &text->target};
    bool shared = t->config.tokenizer.shared;
    t->source = learn(t, both, shared ? 2 : 1, error);
    t->target = shared || t->source == NULL ? t->source : learn(t, both + 1, 1, error);
    if (t->target == NULL) return false;
    corpus_encode(&t->train, text, t->source, t->target);
    corpus_filter(&t->train, text, &(CorpusFilter){d->max_length, d->max_ratio, d->drop_duplicates});
    if (t->train.pairs == 0)
        return error_set(error, "%s: no pair is left; raise [data] max_length or max_ratio", text->file[0].path);
    trainer_make_model(t, tokenizer_vocab_size(t->source), tokenizer_vocab_size(t->target));
    return true;
}

bool subject_open(Trainer *t, Config *config, const SubjectText *from, Error *error) {
    matmul_serial_blas();
    *t = (Trainer){.config = *config};
    ConfigTrain *c = &t->config.train;
    if (c->threads == 0) c->threads = cpu_cores();
    if (c->lanes == 0) c->lanes = c->threads;
    if (from->made_up) {
        make_up(t, from->length);
        return true;
    }
    ParallelText text, valid;
    bool good = corpora_read(&text, &valid, &t->config, error);
    if (good) {
        parallel_text_free(&valid);
        good = read_corpus(t, &text, error);
        if (good) trainer_keep_text(t, &text);
        parallel_text_free(&text);
    }
    if (!good) trainer_close(t);
    return good;
}
