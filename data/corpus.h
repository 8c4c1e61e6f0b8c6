/* A parallel corpus as ids: pairs of sentences, in the order of the files, with what was dropped counted. */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/batch.h"
#include "data/parallel_text.h"
#include "tokenizer/tokenizer.h"

/* One side of all kept pairs, laid end to end, without </s>. */
typedef struct CorpusSide {
    IdList ids;
    int64_t *offset; /* [pairs+1] */
} CorpusSide;

typedef struct Corpus {
    int pairs;
    CorpusSide source, target;
    int *line; /* [pairs] line in the files, from 0 */
    int lines; /* pairs read; and dropped by reason: */
    int empty_side, too_long, uneven_lengths, duplicates;
} Corpus;

/* Encodes all pairs; none is dropped. */
void corpus_encode(Corpus *corpus, const ParallelText *text, const Tokenizer *source, const Tokenizer *target);
void corpus_free(Corpus *corpus);

/* What is dropped, tried in this order: pairs with an empty or blank side, */
typedef struct CorpusFilter {
    int max_length;       /* with more tokens on a side (0: any number), */
    double max_ratio;     /* with more than so many times the tokens of the other side (0: any number), */
    bool drop_duplicates; /* or with the tokens of an earlier pair that was kept. */
} CorpusFilter;

/* Drops pairs of a corpus that holds all lines of the text. */
void corpus_filter(Corpus *corpus, const ParallelText *text, const CorpusFilter *filter);

static inline int corpus_length(const CorpusSide *side, int pair) {
    return (int)(side->offset[pair + 1] - side->offset[pair]);
}

/* Of one side of all pairs, without </s>. */
typedef struct SideCounts {
    int64_t tokens;
    int longest;
    int64_t in_bytes; /* characters spelled by byte tokens */
} SideCounts;

SideCounts corpus_count(const CorpusSide *side, int pairs);

/* Of all ids and line numbers: tells a corpus from another one, or from the same in another order. */
uint64_t corpus_hash(const Corpus *corpus);

/* The batch of pairs[0..count), taken from the arena. Its index of a pair is its line in the files. */
Batch corpus_batch(const Corpus *corpus, const int *pairs, int count, Arena *arena);

#endif
