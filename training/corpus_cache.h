/* The ids of a text in a file, so that a training that starts again need not encode it again.
 *
 * A safetensors file: source.ids, target.ids [tokens] I32, source.offset, target.offset [lines+1] I64, and the key in its
 * metadata. It holds all lines: what [data] drops is decided afterwards. Nothing in it is trusted: a file with another
 * key, without its checksum or with a wrong one, or with an offset or id that cannot be is as good as none. */
#ifndef TRAINING_CORPUS_CACHE_H
#define TRAINING_CORPUS_CACHE_H

#include "data/corpus.h"

/* What decides the ids: the lines of both sides, both tokenizers, and the versions of this program and of Unicode's
 * tables (normalisation). As text. */
typedef struct CorpusKey {
    char text[64];
} CorpusKey;

CorpusKey corpus_key(const ParallelText *text, const Tokenizer *source, const Tokenizer *target);

typedef enum CacheState {
    CACHE_GOOD,
    CACHE_NONE,   /* there is no such file, or it belongs to another key */
    CACHE_DAMAGED /* its content cannot be */
} CacheState;

/* Fills `corpus`, all lines of the text, if the state is CACHE_GOOD, else leaves it alone. */
CacheState corpus_cache_load(Corpus *corpus, const char *path, const CorpusKey *key, const ParallelText *text,
                             const Tokenizer *source, const Tokenizer *target);

/* Replaces the file at `path`. The corpus must hold all lines of its text. */
bool corpus_cache_save(const Corpus *corpus, const char *path, const CorpusKey *key, Error *error);

#endif
