#include "tests/support/small_corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scratch.h"

static void require(bool ok, const Error *error) {
    if (ok) return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

void small_corpus_init(SmallCorpus *f, const char *tsv, size_t size) {
    Error error = {""};
    scratch_write(scratch_path("t.tsv"), tsv, size);
    require(parallel_text_read_tsv(&f->text, scratch_path("t.tsv"), &error), &error);
    TokenizerOptions options = tokenizer_default_options();
    options.type = TOKENIZER_CHAR;
    const Lines *sides[] = {&f->text.source, &f->text.target};
    f->tokenizer = tokenizer_learn(sides, 2, &options, &error);
    require(f->tokenizer != NULL, &error);
    corpus_encode(&f->corpus, &f->text, f->tokenizer, f->tokenizer);
    f->key = corpus_key(&f->text, f->tokenizer, f->tokenizer);
}

void small_corpus_free(SmallCorpus *f) {
    corpus_free(&f->corpus);
    tokenizer_free(f->tokenizer);
    parallel_text_free(&f->text);
}

bool small_corpus_same(const CorpusSide *side, int i, const CorpusSide *all, int j) {
    const int *a = side->ids.ids + side->offset[i], *b = all->ids.ids + all->offset[j];
    int n = corpus_length(side, i);
    return n == corpus_length(all, j) && (n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0);
}
