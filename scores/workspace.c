#include "scores/workspace.h"

#include <assert.h>

#include "base/memory.h"

void workspace_init(Workspace *w, int references) {
    *w = (Workspace){.texts = 1 + references};
    w->text = memory_alloc((size_t)w->texts, sizeof *w->text, "texts to score");
    w->words = memory_alloc((size_t)w->texts, sizeof *w->words, "words to score");
}

void workspace_free(Workspace *w) {
    for (int i = 0; i < w->texts; i++) {
        symbols_free(&w->text[i]);
        symbols_free(&w->words[i]);
    }
    memory_free(w->text);
    memory_free(w->words);
    symbols_free(&w->scratch);
    pair_numbers_free(&w->prefixes);
    ngram_counter_free(&w->counter);
}

void workspace_read(Workspace *w, const SentencePair *pair, bool lowercase) {
    assert(pair->references >= 1 && pair->references + 1 == w->texts);
    symbols_read(&w->text[0], &w->scratch, pair->hypothesis, lowercase);
    for (int i = 0; i < pair->references; i++)
        symbols_read(&w->text[i + 1], &w->scratch, pair->reference[i], lowercase);
}

void workspace_number_words(Workspace *w) {
    size_t characters = 0;
    for (int i = 0; i < w->texts; i++) characters += w->text[i].count;
    pair_numbers_begin(&w->prefixes, characters);
    for (int i = 0; i < w->texts; i++) words_number(&w->words[i], &w->prefixes, &w->text[i]);
}
