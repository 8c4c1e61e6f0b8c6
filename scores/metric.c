#include "scores/metric.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/version.h"

Metric metric_bleu(void) { return (Metric){.kind = METRIC_BLEU}; }

Metric metric_chrf(int word_order) {
    assert(word_order >= 0 && word_order <= CHRF_MOST_WORD_ORDER);
    return (Metric){.kind = METRIC_CHRF, .chrf.word_order = word_order};
}

enum { EXACT, LINES, EXACT_FIELDS };

int metric_fields(const Metric *m) {
    if (m->kind == METRIC_EXACT_MATCH) return EXACT_FIELDS;
    return m->kind == METRIC_CHRF ? chrf_fields(&m->chrf) : BLEU_FIELDS;
}

Score metric_score(const Metric *m, const int64_t *counts) {
    if (m->kind == METRIC_CHRF) return (Score){.value = chrf_score(counts, &m->chrf)};
    if (m->kind == METRIC_EXACT_MATCH)
        return (Score){.value = counts[LINES] > 0 ? 100.0 * (double)counts[EXACT] / (double)counts[LINES] : 0,
                       .exact = counts[EXACT],
                       .lines = counts[LINES]};
    BleuScore bleu = bleu_score(counts, &m->bleu);
    return (Score){.value = m->kind == METRIC_BLEU ? bleu.score : bleu.ratio, .bleu = bleu};
}

static void exact_count(int32_t counts[EXACT_FIELDS], const SentencePair *pair) {
    counts[LINES] = 1;
    for (int i = 0; i < pair->references; i++)
        if (line_equal(pair->hypothesis, pair->reference[i])) counts[EXACT] = 1;
}

static void count(int32_t *counts, const Metric *m, Workspace *w, const SentencePair *pair) {
    if (m->kind == METRIC_EXACT_MATCH)
        exact_count(counts, pair);
    else if (m->kind == METRIC_CHRF)
        chrf_count(counts, &m->chrf, w, pair);
    else
        bleu_count(counts, &m->bleu, w, pair);
}

void counts_collect(Counts *c, const Metric *m, const Line *hypothesis, const Line *const *reference, int references,
                    int sentences) {
    int fields = metric_fields(m);
    *c = (Counts){.metric = m, .sentences = sentences};
    c->counts = memory_alloc((size_t)sentences * (size_t)fields, sizeof *c->counts, "counts of sentences to score");
    Line *of_sentence = memory_alloc((size_t)references, sizeof *of_sentence, "references of a sentence");
    Workspace w;
    workspace_init(&w, references);
    for (int i = 0; i < sentences; i++) {
        for (int r = 0; r < references; r++) of_sentence[r] = reference[r][i];
        SentencePair pair = {hypothesis[i], of_sentence, references};
        count(c->counts + (size_t)i * (size_t)fields, m, &w, &pair);
    }
    workspace_free(&w);
    memory_free(of_sentence);
}

void counts_free(Counts *c) {
    memory_free(c->counts);
    *c = (Counts){0};
}

static Score score_of_range(const Counts *c, int first, int end) {
    int64_t sums[METRIC_MOST_FIELDS] = {0};
    size_t fields = (size_t)metric_fields(c->metric);
    for (int i = first; i < end; i++)
        for (size_t f = 0; f < fields; f++) sums[f] += c->counts[(size_t)i * fields + f];
    return metric_score(c->metric, sums);
}

Score counts_score(const Counts *c) { return score_of_range(c, 0, c->sentences); }
Score counts_sentence_score(const Counts *c, int sentence) { return score_of_range(c, sentence, sentence + 1); }

const char *metric_name(char out[METRIC_TEXT], const Metric *m) {
    if (m->kind == METRIC_BLEU) return strcpy(out, "BLEU");
    if (m->kind == METRIC_LENGTH_RATIO) return strcpy(out, "length ratio");
    if (m->kind == METRIC_EXACT_MATCH) return strcpy(out, "exact match");
    snprintf(out, METRIC_TEXT, "chrF%d%.*s", CHRF_BETA, m->chrf.word_order, "++++");
    return out;
}

/* Floor and add-k have a value, which belongs to their name. */
static const char *smoothing_text(char out[32], const BleuOptions *o) {
    const char *name = bleu_smoothing_name(o->smoothing);
    bool valued = o->smoothing == BLEU_SMOOTH_FLOOR || o->smoothing == BLEU_SMOOTH_ADD_K;
    snprintf(out, 32, valued ? "%s[%.2f]" : "%s", name, o->smooth_value);
    return out;
}

const char *metric_signature(char out[METRIC_TEXT], const Metric *m, const Setting *setting) {
    char sampled[64] = "", smoothing[32];
    out[0] = '\0';
    if (setting->samples > 0)
        snprintf(sampled, sizeof sampled, "|bs:%d|seed:%" PRIu64, setting->samples, setting->seed);
    if (m->kind == METRIC_BLEU)
        snprintf(out, METRIC_TEXT, "nrefs:%d%s|case:%s|eff:%s|tok:%s|smooth:%s|version:tandem-%s", setting->references,
                 sampled, m->bleu.lowercase ? "lc" : "mixed", m->bleu.effective_order ? "yes" : "no",
                 bleu_tokenizer_name(m->bleu.tokenizer), smoothing_text(smoothing, &m->bleu), TANDEM_VERSION);
    if (m->kind == METRIC_CHRF)
        snprintf(out, METRIC_TEXT, "nrefs:%d%s|case:%s|eff:yes|nc:%d|nw:%d|space:no|version:tandem-%s",
                 setting->references, sampled, m->chrf.lowercase ? "lc" : "mixed", CHRF_CHAR_ORDER, m->chrf.word_order,
                 TANDEM_VERSION);
    return out;
}

int metric_width(const Metric *m) { return m->kind == METRIC_LENGTH_RATIO ? 3 : m->kind == METRIC_EXACT_MATCH ? 2 : 1; }

const char *score_details(char out[METRIC_TEXT], const Metric *m, const Score *score) {
    const BleuScore *b = &score->bleu;
    out[0] = '\0';
    if (m->kind == METRIC_BLEU)
        snprintf(out, METRIC_TEXT,
                 "%.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %" PRId64 " ref_len = %" PRId64 ")",
                 b->precision[0], b->precision[1], b->precision[2], b->precision[3], b->brevity_penalty, b->ratio,
                 b->hyp_length, b->ref_length);
    if (m->kind == METRIC_LENGTH_RATIO)
        snprintf(out, METRIC_TEXT, "(%" PRId64 " of %" PRId64 " words)", b->hyp_length, b->ref_length);
    if (m->kind == METRIC_EXACT_MATCH)
        snprintf(out, METRIC_TEXT, "(%" PRId64 " of %" PRId64 ")", score->exact, score->lines);
    return out;
}
