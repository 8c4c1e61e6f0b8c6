/* chrF: F-score of character n-grams, n = 1 .. 6 (Popović 2015); chrF++ adds word n-grams, n = 1, 2 (Popović 2017).
 *
 *     chrF2 = 100 (1 + 4) P R / (4 P + R),   recall weighs twice as much as precision (beta = 2),
 *     P, R the means over n of  matches_n / n-grams in the translation  and  matches_n / n-grams in the reference,
 *
 * over the orders that both sides have ("effective order", the default of sacreBLEU 2). White space is no character. Of
 * several references the one with the best score of the sentence counts. */
#ifndef SCORES_CHRF_H
#define SCORES_CHRF_H

#include "scores/workspace.h"

enum {
    CHRF_CHAR_ORDER = 6,
    CHRF_BETA = 2,
    CHRF_MOST_WORD_ORDER = 4,
    CHRF_MOST_ORDERS = CHRF_CHAR_ORDER + CHRF_MOST_WORD_ORDER
};

typedef struct ChrfOptions {
    int word_order; /* 0: chrF2; 2: chrF2++; at most CHRF_MOST_WORD_ORDER */
    bool lowercase;
} ChrfOptions;

/* Counts of a sentence, three for each order; those of a corpus are their sums. */
enum { CHRF_HYP, CHRF_REF, CHRF_MATCH, CHRF_COUNTS, CHRF_MOST_FIELDS = CHRF_COUNTS * CHRF_MOST_ORDERS };
static inline int chrf_fields(const ChrfOptions *options) {
    return CHRF_COUNTS * (CHRF_CHAR_ORDER + options->word_order);
}
void chrf_count(int32_t *counts, const ChrfOptions *options, Workspace *w, const SentencePair *pair);

double chrf_score(const int64_t *counts, const ChrfOptions *options); /* percent */

#endif
