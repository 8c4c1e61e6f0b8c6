#include "measuring/subject.h"

#include <string.h>

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

bool subject_open(Trainer *t, Config *config, const SubjectText *from, Error *error) {
    matmul_serial_blas();
    *t = (Trainer){.config = *config};
    trainer_plan_threads(&t->config.train);
    if (from->made_up) {
        make_up(t, from->length);
        return true;
    }
    ParallelText text, valid;
    bool good = corpora_read(&text, &valid, &t->config, error);
    if (good) {
        parallel_text_free(&valid);
        good = corpora_learn(t, &text, error);
        if (good) trainer_make_model(t, tokenizer_vocab_size(t->source), tokenizer_vocab_size(t->target));
        if (good) trainer_keep_text(t, &text);
        parallel_text_free(&text);
    }
    if (!good) trainer_close(t);
    return good;
}
