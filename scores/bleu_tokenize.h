/* How BLEU cuts text into words: sacreBLEU's tokenizers 13a, intl, char and none.
 *
 * 13a is that of mteval-v13a.pl, intl that of mteval-v14.pl (NIST; described in Post 2018): both put spaces around
 * punctuation by rules that look at one or two neighbouring characters. */
#ifndef SCORES_BLEU_TOKENIZE_H
#define SCORES_BLEU_TOKENIZE_H

#include "scores/symbols.h"

typedef enum BleuTokenizer { BLEU_13A, BLEU_NONE, BLEU_CHAR, BLEU_INTL, BLEU_TOKENIZERS } BleuTokenizer;

const char *bleu_tokenizer_name(BleuTokenizer tokenizer); /* "13a" ... as in a signature */

/* Puts spaces into the text so that white space separates its words. */
void bleu_tokenize(Symbols *text, Symbols *scratch, BleuTokenizer tokenizer);

#endif
