/* One sentence as the metrics see it, and the working memory for it: kept from sentence to sentence. */
#ifndef SCORES_WORKSPACE_H
#define SCORES_WORKSPACE_H

#include "scores/ngrams.h"

typedef struct SentencePair {
    Line hypothesis;
    const Line *reference; /* [references] */
    int references;        /* at least 1 */
} SentencePair;

typedef struct Workspace {
    Symbols *text, *words; /* [texts] of the hypothesis, then of each reference */
    int texts;
    Symbols scratch;
    PairNumbers prefixes;
    NgramCounter counter;
} Workspace;

void workspace_init(Workspace *w, int references);
void workspace_free(Workspace *w);

/* Fills w->text. */
void workspace_read(Workspace *w, const SentencePair *pair, bool lowercase);

/* Fills w->words with the numbers of what white space separates in w->text: equal numbers are equal words. */
void workspace_number_words(Workspace *w);

#endif
