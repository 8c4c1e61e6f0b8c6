/* A small parallel text with its tokenizer and all its lines as ids. */
#ifndef TESTS_SUPPORT_SMALL_CORPUS_H
#define TESTS_SUPPORT_SMALL_CORPUS_H

#include "training/corpus_cache.h"

typedef struct SmallCorpus {
    ParallelText text;
    Tokenizer *tokenizer; /* of characters; those that occur once are spelled in bytes */
    Corpus corpus;        /* nothing dropped */
    CorpusKey key;
} SmallCorpus;

/* From the bytes of a TSV file, which is written into the scratch directory (tests/support/scratch.h). */
void small_corpus_init(SmallCorpus *f, const char *tsv, size_t size);
void small_corpus_free(SmallCorpus *f);

/* Is sentence i of one side the sentence j of the other? */
bool small_corpus_same(const CorpusSide *side, int i, const CorpusSide *all, int j);

#endif
