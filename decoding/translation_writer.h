/* Translations as lines of text, in the forms that Marian's and CTranslate2's users know. */
#ifndef DECODING_TRANSLATION_WRITER_H
#define DECODING_TRANSLATION_WRITER_H

#include "decoding/translate_options.h"

/* The line or lines of one translation. `number` counts the input's lines from 0.
 *   plain    [score ||| ]text[ ||| alignment][ ||| WordScores= w1 .. w_end]
 *   n-best   number ||| text[ ||| alignment][ ||| WordScores= ..] ||| F0= log p ||| score      best first
 * A blank line is "", with all scores 0. */
void translation_write(FILE *out, const Translator *t, const TranslateOptions *o, long number,
                       const Translation *translation);

/* A given target's line: its log p, or score where normalised, then alignment and word scores as above. */
void translation_write_score(FILE *out, const Translator *t, const TranslateOptions *o, const Translation *translation);

#endif
