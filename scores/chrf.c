#include "scores/chrf.h"

#include <string.h>

/* string.punctuation of Python. */
static bool is_ascii_punctuation(int32_t code) {
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') || (code >= '[' && code <= '`') ||
           (code >= '{' && code <= '~');
}

static void push_word(Symbols *out, const int32_t *word, size_t length) {
    for (size_t i = 0; i < length; i++) symbols_push(out, word[i]);
    symbols_push(out, ' ');
}

/* A punctuation mark at the end of a word is a word of its own; only where there is none, one at its start: `(hi)` gives
 * `(hi` and `)`. */
static void separate_punctuation(Symbols *out, const int32_t *word, size_t length) {
    if (length > 1 && is_ascii_punctuation(word[length - 1])) {
        push_word(out, word, length - 1);
        push_word(out, word + length - 1, 1);
    } else if (length > 1 && is_ascii_punctuation(word[0])) {
        push_word(out, word, 1);
        push_word(out, word + 1, length - 1);
    } else if (length > 0) {
        push_word(out, word, length);
    }
}

static void separate_all(Symbols *text, Symbols *scratch) {
    symbols_begin(scratch, 3 * text->count);
    size_t start = 0;
    for (size_t i = 0; i <= text->count; i++)
        if (i == text->count || code_is_space(text->at[i])) {
            separate_punctuation(scratch, text->at + start, i - start);
            start = i + 1;
        }
    symbols_swap(text, scratch);
}

static void remove_spaces(Symbols *text) {
    size_t kept = 0;
    for (size_t i = 0; i < text->count; i++)
        if (!code_is_space(text->at[i])) text->at[kept++] = text->at[i];
    text->count = kept;
}

/* N-grams that the reference has none of at all are not held against the translation. */
static void count_orders(int32_t *counts, NgramCounter *c, const Symbols *hypothesis, const Symbols *reference,
                         int orders) {
    int32_t matches[CHRF_MOST_ORDERS];
    ngrams_match(matches, c, hypothesis, reference, 1, orders);
    for (int n = 1; n <= orders; n++, counts += CHRF_COUNTS) {
        counts[CHRF_REF] = ngrams_in(reference, n);
        counts[CHRF_HYP] = counts[CHRF_REF] > 0 ? ngrams_in(hypothesis, n) : 0;
        counts[CHRF_MATCH] = matches[n - 1];
    }
}

static double score_of_sentence(const int32_t *counts, const ChrfOptions *options) {
    int64_t sums[CHRF_MOST_FIELDS];
    for (int i = 0; i < chrf_fields(options); i++) sums[i] = counts[i];
    return chrf_score(sums, options);
}

void chrf_count(int32_t *counts, const ChrfOptions *options, Workspace *w, const SentencePair *pair) {
    workspace_read(w, pair, options->lowercase);
    if (options->word_order > 0) {
        for (int i = 0; i < w->texts; i++) separate_all(&w->text[i], &w->scratch);
        workspace_number_words(w);
    }
    for (int i = 0; i < w->texts; i++) remove_spaces(&w->text[i]);
    double best = -1;
    for (int i = 1; i < w->texts; i++) {
        int32_t candidate[CHRF_MOST_FIELDS];
        count_orders(candidate, &w->counter, &w->text[0], &w->text[i], CHRF_CHAR_ORDER);
        count_orders(candidate + CHRF_COUNTS * CHRF_CHAR_ORDER, &w->counter, &w->words[0], &w->words[i],
                     options->word_order);
        double score = w->texts > 2 ? score_of_sentence(candidate, options) : 0;
        if (score <= best) continue;
        best = score;
        memcpy(counts, candidate, (size_t)chrf_fields(options) * sizeof *counts);
    }
}

/* beta^2 is a power of two, so a fused multiply-add gives the bits of sacreBLEU's separate product and sum. */
double chrf_score(const int64_t *counts, const ChrfOptions *options) {
    const double factor = CHRF_BETA * CHRF_BETA;
    double precision = 0, recall = 0;
    int orders = 0;
    for (int n = 0; n < CHRF_CHAR_ORDER + options->word_order; n++, counts += CHRF_COUNTS) {
        if (counts[CHRF_HYP] == 0 || counts[CHRF_REF] == 0) continue;
        precision += (double)counts[CHRF_MATCH] / (double)counts[CHRF_HYP];
        recall += (double)counts[CHRF_MATCH] / (double)counts[CHRF_REF];
        orders++;
    }
    if (precision + recall == 0) return 0;
    precision /= orders;
    recall /= orders;
    return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}
