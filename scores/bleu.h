/* BLEU: how many of the n-grams of a translation, n = 1 .. 4, its references have (Papineni, Roukos, Ward and Zhu 2002).
 *
 *     BLEU = 100 BP exp(1/4 sum_n log p_n),   p_n = correct_n / total_n over the whole corpus,
 *     BP   = 1 if h >= r, else exp(1 - r / h), h words in all translations, r in the references closest to them in length
 *
 * with tokenizers, smoothing (Chen and Cherry 2014) and all border cases of sacreBLEU (Post 2018). */
#ifndef SCORES_BLEU_H
#define SCORES_BLEU_H

#include "scores/bleu_tokenize.h"
#include "scores/workspace.h"

enum { BLEU_ORDER = 4 };

/* What a p_n with correct_n = 0 becomes. */
typedef enum BleuSmoothing {
    BLEU_SMOOTH_EXP,   /* 1 / (2^k total_n) for the k-th such n */
    BLEU_SMOOTH_FLOOR, /* value / total_n */
    BLEU_SMOOTH_ADD_K, /* (correct_n + value) / (total_n + value), for every n > 1 */
    BLEU_SMOOTH_NONE,  /* 0 */
    BLEU_SMOOTHINGS
} BleuSmoothing;

typedef struct BleuOptions {
    BleuTokenizer tokenizer;
    BleuSmoothing smoothing;
    double smooth_value; /* of floor and add-k, at least 0 */
    bool lowercase;
    bool effective_order; /* the mean of the orders that the translation has n-grams of: for single sentences */
} BleuOptions;

const char *bleu_smoothing_name(BleuSmoothing smoothing); /* "exp" ... as in a signature */
double bleu_smooth_default(BleuSmoothing smoothing);      /* floor 0.1, add-k 1, else 0 */

/* Counts of a sentence; those of a corpus are their sums. */
enum {
    BLEU_HYP_LENGTH,
    BLEU_REF_LENGTH,
    BLEU_CORRECT,
    BLEU_TOTAL = BLEU_CORRECT + BLEU_ORDER,
    BLEU_FIELDS = BLEU_TOTAL + BLEU_ORDER
};
void bleu_count(int32_t counts[BLEU_FIELDS], const BleuOptions *options, Workspace *w, const SentencePair *pair);

typedef struct BleuScore {
    double score, precision[BLEU_ORDER]; /* percent */
    double brevity_penalty, ratio;       /* ratio h / r, 0 without r */
    int64_t hyp_length, ref_length;      /* words */
} BleuScore;

BleuScore bleu_score(const int64_t counts[BLEU_FIELDS], const BleuOptions *options);

#endif
