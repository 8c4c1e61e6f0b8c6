/* Sentences made up for measuring speed, where no corpus is at hand. */
#ifndef MEASURING_MADE_UP_H
#define MEASURING_MADE_UP_H

#include "data/corpus.h"

/* `pairs` pairs of ids of the vocabularies, a pure function of the arguments. Piece number r of the vocabulary is drawn
 * with a frequency of about 1/r (Zipf's law). length 0: lengths are log-normal like those of Multi30k English-German in
 * 10,000 pieces (about 15 tokens a side with </s>, the sides correlated); otherwise every side has `length`
 * tokens with </s>. Free with corpus_free. */
void made_up_corpus(Corpus *corpus, int pairs, int length, int source_vocab, int target_vocab, uint64_t seed);

#endif
