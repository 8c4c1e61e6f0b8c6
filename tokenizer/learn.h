/* Learning, for the files of this folder: distinct words -> alphabet -> sequences of characters -> merges. */
#ifndef TOKENIZER_LEARN_H
#define TOKENIZER_LEARN_H

#include "tokenizer/string_map.h"
#include "tokenizer/vocabulary.h"

/* The distinct normalised words of a corpus, or the characters of words. */
typedef struct WordCounts {
    StringMap words;
    int64_t *count; /* [words.count] how often each occurs */
    int capacity;
} WordCounts;

void word_counts_add(WordCounts *counts, const char *word, size_t length, int64_t times);
void word_counts_free(WordCounts *counts);

/* Adds the alphabet's pieces, at most `most` of them, "▁" always among them; in order of code points. */
void alphabet_choose(Tokenizer *tokenizer, const WordCounts *counts, int most, int min_frequency);

/* Adds the most frequent words, ties by their bytes, as pieces until there are vocab_size pieces. */
void words_choose(Tokenizer *tokenizer, const WordCounts *counts, int vocab_size, int min_frequency);

/* Adds pieces and merges until there are vocab_size pieces or no pair occurs min_frequency times. */
void bpe_learn(Tokenizer *tokenizer, const WordCounts *counts, int vocab_size, int min_frequency);

#endif
