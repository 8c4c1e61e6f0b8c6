/* Text in, text out: a trained run, loaded once, that translates lines on several threads. */
#ifndef DECODING_TRANSLATOR_H
#define DECODING_TRANSLATOR_H

#include "base/lines.h"
#include "decoding/beam.h"
#include "run/config.h"
#include "tokenizer/tokenizer.h"

/* What decoding needs of a model and its texts; training lends its own for validation. `limits`, `beam`, `keep`,
 * `batch_tokens` and `first_line` may be changed between translations. */
typedef struct Translator {
    const Tokenizer *source, *target; /* borrowed; may be one */
    StepModel *model;                 /* [models] that decide together */
    int models;
    DecodeLimits limits;
    BeamOptions beam;
    bool keep;            /* are hypotheses wanted with the text? */
    int batch_tokens;     /* source tokens that a thread decodes together, each counted once a hypothesis */
    int64_t first_line;   /* number of the first line, for sampling */
    const char *progress; /* what to call it on a terminal (base/progress.h), borrowed; NULL: it is not shown */
    int threads;
    Arena *arena; /* [threads] borrowed, so that training's warm ones serve validation too */
} Translator;

/* One model, and of options what the configuration says: the best hypothesis alone, as text. */
void translator_init(Translator *t, const Transformer *p, const TransformerPositions *positions,
                     const Tokenizer *source, const Tokenizer *target, const ConfigDecode *config, int threads,
                     Arena *arena);

/* One more model of the same vocabularies. */
void translator_add_model(Translator *t, const Transformer *p, const TransformerPositions *positions);
void translator_free(Translator *t);

typedef struct Translation {
    char *text; /* of the best hypothesis; [length] and a final NUL, from memory_alloc */
    size_t length;
    int source_tokens; /* without </s> */
    /* Where the translator keeps hypotheses and the line is not blank; else NULL: */
    Hypothesis *hypothesis; /* [n_best] best first */
    int *source_ids;        /* [source_tokens+1] with </s> */
} Translation;

/* out[i] is the translation of line[i]. A blank line (white space only) gives "". Lines are sorted by length inside,
 * spread over threads, and come back in order; each one's translation is the same whatever the other lines and the
 * number of threads. */
void translator_translate(Translation *out, const Translator *t, const Line *line, int count);

/* How targets begin: that of line i with ids[offset[i]] .. ids[offset[i+1]-1]. */
typedef struct ForcedTargets {
    const int *ids, *offset;
    bool complete; /* they are whole: nothing is searched, the hypotheses carry their scores */
} ForcedTargets;

/* The same with forced targets (NULL: none). Of complete ones, only blank for blank is left out. */
void translator_translate_forced(Translation *out, const Translator *t, const Line *line, int count,
                                 const ForcedTargets *forced);

/* Frees what translation[0..count) hold, not the array. */
void translations_free(Translation *translation, int count, int n_best);

#endif
