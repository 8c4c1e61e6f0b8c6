#include "scores/bleu.h"

#include <math.h>
#include <stdlib.h>

const char *bleu_smoothing_name(BleuSmoothing smoothing) {
    static const char *const names[BLEU_SMOOTHINGS] = {"exp", "floor", "add-k", "none"};
    return names[smoothing];
}

double bleu_smooth_default(BleuSmoothing smoothing) {
    return smoothing == BLEU_SMOOTH_FLOOR ? 0.1 : smoothing == BLEU_SMOOTH_ADD_K ? 1 : 0;
}

/* Of the references the one closest in length counts; of two as close, the shorter. */
static int32_t closest_length(const Workspace *w) {
    int32_t length = (int32_t)w->words[0].count, closest = (int32_t)w->words[1].count;
    for (int i = 2; i < w->texts; i++) {
        int32_t other = (int32_t)w->words[i].count, gain = abs(length - closest) - abs(length - other);
        if (gain > 0 || (gain == 0 && other < closest)) closest = other;
    }
    return closest;
}

void bleu_count(int32_t counts[BLEU_FIELDS], const BleuOptions *options, Workspace *w, const SentencePair *pair) {
    workspace_read(w, pair, options->lowercase);
    for (int i = 0; i < w->texts; i++) bleu_tokenize(&w->text[i], &w->scratch, options->tokenizer);
    workspace_number_words(w);
    counts[BLEU_HYP_LENGTH] = (int32_t)w->words[0].count;
    counts[BLEU_REF_LENGTH] = closest_length(w);
    ngrams_match(counts + BLEU_CORRECT, &w->counter, &w->words[0], &w->words[1], pair->references, BLEU_ORDER);
    for (int n = 1; n <= BLEU_ORDER; n++) counts[BLEU_TOTAL + n - 1] = ngrams_in(&w->words[0], n);
}

/* sacreBLEU's logarithm: of zero, low enough that its exponential is zero whatever the other three are. */
static double log_or_low(double p) { return p == 0 ? -9999999999.0 : log(p); }

static double brevity_penalty(double h, double r) {
    if (h >= r) return 1;
    return h > 0 ? exp(1 - r / h) : 0;
}

/* The precisions; returns how many orders enter the mean. */
static int smoothed_precisions(double p[BLEU_ORDER], const int64_t *correct, const int64_t *total,
                               const BleuOptions *options) {
    int orders = BLEU_ORDER;
    double halving = 1;
    for (int n = 0; n < BLEU_ORDER; n++) {
        double added = options->smoothing == BLEU_SMOOTH_ADD_K && n > 0 ? options->smooth_value : 0;
        double c = (double)correct[n] + added, t = (double)total[n] + added;
        if (t == 0) break;
        if (options->effective_order) orders = n + 1;
        if (c > 0) {
            p[n] = 100 * c / t;
        } else if (options->smoothing == BLEU_SMOOTH_EXP) {
            halving *= 2;
            p[n] = 100 / (halving * t);
        } else if (options->smoothing == BLEU_SMOOTH_FLOOR) {
            p[n] = 100 * options->smooth_value / t;
        }
    }
    return orders;
}

/* Nothing matches: the score is 0 and so are the precisions, whatever the smoothing. */
BleuScore bleu_score(const int64_t counts[BLEU_FIELDS], const BleuOptions *options) {
    const int64_t *correct = counts + BLEU_CORRECT;
    BleuScore s = {.hyp_length = counts[BLEU_HYP_LENGTH], .ref_length = counts[BLEU_REF_LENGTH]};
    double h = (double)s.hyp_length, r = (double)s.ref_length;
    s.brevity_penalty = brevity_penalty(h, r);
    s.ratio = r > 0 ? h / r : 0;
    if (correct[0] == 0) return s; /* then no longer one matches either */
    int orders = smoothed_precisions(s.precision, correct, counts + BLEU_TOTAL, options);
    double logs = 0;
    for (int n = 0; n < orders; n++) logs += log_or_low(s.precision[n]);
    s.score = s.brevity_penalty * exp(logs / orders);
    return s;
}
