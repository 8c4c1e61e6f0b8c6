/* Text in, text out: a trained run, loaded once, that translates lines on several threads. */
#ifndef DECODING_TRANSLATOR_H
#define DECODING_TRANSLATOR_H

#include "base/lines.h"
#include "decoding/beam.h"
#include "run/config.h"

/* What decoding needs of a model and its texts; training lends its own for validation. */
typedef struct Translator {
    const Tokenizer *source, *target; /* borrowed; may be one */
    StepModel model;
    DecodeLimits limits;
    BeamOptions beam;
    int threads;
    Arena *arena; /* [threads] borrowed, so that training's warm ones serve validation too */
} Translator;

void translator_init(Translator *t, const Transformer *p, const TransformerPositions *positions,
                     const Tokenizer *source, const Tokenizer *target, const ConfigDecode *config, int threads,
                     Arena *arena);
void translator_free(Translator *t);

enum { TRANSLATOR_MOST_TOKENS = 1000 }; /* of a source line; the rest of a longer one is left out */

typedef struct Translation {
    char *text;  /* NUL-terminated, from memory_alloc */
    int dropped; /* source tokens beyond TRANSLATOR_MOST_TOKENS */
} Translation;

/* out[i] is the translation of line[i]. A blank line (white space only) gives "". Lines are sorted by length inside,
 * spread over threads, and come back in order; each one's translation is the same whatever the other lines and the
 * number of threads. */
void translator_translate(Translation *out, const Translator *t, const Line *line, int count);

#endif
