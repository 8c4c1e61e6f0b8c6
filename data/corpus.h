/* A parallel corpus as ids: pairs of sentences, in the order of the files, with what was dropped counted. */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/batch.h"
#include "base/error.h"
#include "base/lines.h"
#include "tokenizer/tokenizer.h"

/* One side of all kept pairs, laid end to end, without </s>. */
typedef struct CorpusSide {
    IdList ids;
    int64_t *offset; /* [pairs+1] */
} CorpusSide;

typedef struct Corpus {
    int pairs;
    CorpusSide source, target;
    int *line;                       /* [pairs] line in the files, from 0 */
    int lines, empty_side, too_long; /* pairs read; dropped by reason */
    int longest_source, longest_target;
} Corpus;

/* Two sides of parallel text. */
typedef struct ParallelText {
    Lines source, target;
} ParallelText;

/* Fails, naming both files and counts, where the line counts differ. */
bool parallel_text_read(ParallelText *text, const char *source_path, const char *target_path, Error *error);
void parallel_text_free(ParallelText *text);

/* Encodes all pairs, and drops those with an empty or blank side or with more than max_length tokens on one (0: no limit). */
void corpus_encode(Corpus *corpus, const ParallelText *text, const Tokenizer *source, const Tokenizer *target,
                   int max_length);
void corpus_free(Corpus *corpus);

static inline int corpus_length(const CorpusSide *side, int pair) {
    return (int)(side->offset[pair + 1] - side->offset[pair]);
}

/* Of all ids and line numbers: tells a corpus from another one, or from the same in another order. */
uint64_t corpus_hash(const Corpus *corpus);

/* The batch of pairs[0..count), taken from the arena. Its index of a pair is its line in the files. */
Batch corpus_batch(const Corpus *corpus, const int *pairs, int count, Arena *arena);

#endif
