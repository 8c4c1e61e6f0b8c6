#include "tokenizer/learn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/batch.h"
#include "base/memory.h"
#include "base/progress.h"
#include "tokenizer/normalize.h"
#include "tokenizer/utf8.h"

void word_counts_add(WordCounts *counts, const char *word, size_t length, int64_t times) {
    int index = string_map_add(&counts->words, word, length);
    if (index == counts->capacity) {
        int capacity = index ? index * 2 : 1024;
        counts->count = memory_grow(counts->count, (size_t)index, (size_t)capacity, sizeof *counts->count,
                                    "counts of the words of the training text");
        counts->capacity = capacity;
    }
    counts->count[index] += times;
}

void word_counts_free(WordCounts *counts) {
    string_map_free(&counts->words);
    memory_free(counts->count);
}

static void count_words(WordCounts *counts, const Lines *const *texts, int text_count, Normalizer *n) {
    Progress progress;
    int64_t lines = 0;
    for (int t = 0; t < text_count; t++) lines += (int64_t)texts[t]->count;
    progress_begin(&progress, "counting words", lines);
    for (int t = 0; t < text_count; t++)
        for (size_t l = 0; l < texts[t]->count; l++) {
            normalize(n, texts[t]->line[l].text, texts[t]->line[l].length);
            for (size_t i = 0, length; i < n->length; i += length) {
                length = word_length(n->text + i, n->length - i);
                word_counts_add(counts, n->text + i, length, 1);
            }
            progress_add(&progress, 1);
        }
    progress_end(&progress);
}

typedef struct Character {
    int32_t code;
    int64_t count;
} Character;

static int by_count(const void *a, const void *b) {
    const Character *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x->code < y->code ? -1 : 1;
}

static int by_code(const void *a, const void *b) {
    return ((const Character *)a)->code < ((const Character *)b)->code ? -1 : 1;
}

/* The distinct characters of the words, each with its occurrences. */
static void count_characters(WordCounts *characters, const WordCounts *counts) {
    for (int w = 0; w < counts->words.count; w++) {
        const char *word = string_map_text(&counts->words, w);
        size_t length = counts->words.entries[w].length;
        int32_t code;
        for (size_t i = 0, n; i < length; i += n) {
            n = utf8_next(word + i, length - i, &code);
            word_counts_add(characters, word + i, n, counts->count[w]);
        }
    }
}

void alphabet_choose(Tokenizer *tokenizer, const WordCounts *counts, int most, int min_frequency) {
    assert(most >= 1);
    WordCounts all = {0};
    count_characters(&all, counts);
    Character *characters = memory_alloc((size_t)all.words.count, sizeof *characters, "alphabet");
    int kept = 0;
    for (int i = 0; i < all.words.count; i++) {
        Character c = {.count = all.count[i]};
        utf8_next(string_map_text(&all.words, i), all.words.entries[i].length, &c.code);
        if (c.code == CODE_WORD_MARK) c.count = INT64_MAX; /* always kept */
        if (c.code == 0) c.count = 0; /* a NUL cannot be a key of many JSON readers: the byte token serves */
        if (c.count >= min_frequency) characters[kept++] = c;
    }
    qsort(characters, (size_t)kept, sizeof *characters, by_count);
    if (kept > most) kept = most;
    qsort(characters, (size_t)kept, sizeof *characters, by_code);
    for (int i = 0; i < kept; i++) {
        char bytes[4];
        string_map_add(&tokenizer->pieces, bytes, utf8_put(bytes, characters[i].code));
    }
    memory_free(characters);
    word_counts_free(&all);
}

/* A word and what it is ordered by. */
typedef struct Word {
    const char *text;
    size_t length;
    int64_t count;
} Word;

static int by_frequency(const void *a, const void *b) {
    const Word *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    size_t least = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, least);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

void words_choose(Tokenizer *tokenizer, const WordCounts *counts, int vocab_size, int min_frequency) {
    Word *words = memory_alloc((size_t)counts->words.count, sizeof *words, "words of the training text");
    size_t kept = 0;
    for (int w = 0; w < counts->words.count; w++) {
        Word word = {string_map_text(&counts->words, w), counts->words.entries[w].length, counts->count[w]};
        bool has_nul = memchr(word.text, '\0', word.length) != NULL; /* which is no part of a JSON key */
        if (word.count >= min_frequency && !has_nul) words[kept++] = word;
    }
    qsort(words, kept, sizeof *words, by_frequency);
    for (size_t i = 0; i < kept && tokenizer->pieces.count < vocab_size; i++)
        string_map_add(&tokenizer->pieces, words[i].text, words[i].length); /* "▁" is there already */
    memory_free(words);
}

TokenizerOptions tokenizer_default_options(void) {
    return (TokenizerOptions){.type = TOKENIZER_BPE, .vocab_size = 8000, .min_frequency = 2};
}

Tokenizer *tokenizer_learn(const Lines *const *texts, int count, const TokenizerOptions *o, Error *error) {
    assert(o->min_frequency >= 1);
    if (o->type != TOKENIZER_BYTE && o->vocab_size < SMALLEST_VOCABULARY) {
        error_set(error,
                  "[tokenizer] vocab_size = %d: the special pieces, the byte tokens and the word mark alone "
                  "are %d; ask for more",
                  o->vocab_size, SMALLEST_VOCABULARY);
        return NULL;
    }
    Normalizer normalizer = {.form = o->normalization, .lowercase = o->lowercase};
    WordCounts counts = {0};
    count_words(&counts, texts, count, &normalizer);
    normalizer_free(&normalizer);
    if (counts.words.count == 0) {
        error_set(error, "training text: all its lines are empty; a tokenizer is learned from text");
        return NULL;
    }
    Tokenizer *tokenizer = vocabulary_new(o->normalization, o->lowercase);
    vocabulary_add_fixed_pieces(tokenizer);
    int room = o->vocab_size - ID_FIRST_PIECE;
    int most = o->type == TOKENIZER_BYTE ? 1 : o->type == TOKENIZER_CHAR || room < 2 ? room : room / 2;
    alphabet_choose(tokenizer, &counts, most, o->min_frequency);
    tokenizer->whole_words = o->type == TOKENIZER_WORD;
    if (o->type == TOKENIZER_BPE) bpe_learn(tokenizer, &counts, o->vocab_size, o->min_frequency);
    if (o->type == TOKENIZER_WORD) words_choose(tokenizer, &counts, o->vocab_size, o->min_frequency);
    word_counts_free(&counts);
    return tokenizer;
}
