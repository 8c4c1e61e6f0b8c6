/* A metric with its options, as one thing: counts of sentences, scores of sums of them, and the line that sacreBLEU
 * prints. Everything above (evaluation, resampling, validation) treats BLEU and chrF alike. */
#ifndef SCORES_METRIC_H
#define SCORES_METRIC_H

#include "scores/bleu.h"
#include "scores/chrf.h"

typedef enum MetricKind {
    METRIC_BLEU,
    METRIC_CHRF,
    METRIC_LENGTH_RATIO, /* words of the translation / words of the references, as in BLEU's brevity penalty */
    METRIC_EXACT_MATCH   /* percent of lines that equal a reference byte for byte */
} MetricKind;

typedef struct Metric {
    MetricKind kind;
    BleuOptions bleu; /* of METRIC_BLEU and METRIC_LENGTH_RATIO */
    ChrfOptions chrf; /* of METRIC_CHRF */
} Metric;

/* sacreBLEU's defaults: 13a and exp; chrF2 where word_order is 0, chrF2++ where it is 2. */
Metric metric_bleu(void);
Metric metric_chrf(int word_order);

enum { METRIC_MOST_FIELDS = CHRF_MOST_FIELDS };
int metric_fields(const Metric *m);

typedef struct Score {
    double value;         /* percent; of METRIC_LENGTH_RATIO a ratio */
    BleuScore bleu;       /* of METRIC_BLEU and METRIC_LENGTH_RATIO */
    int64_t exact, lines; /* of METRIC_EXACT_MATCH */
} Score;

Score metric_score(const Metric *m, const int64_t *counts);

/* The counts of every sentence of a corpus, from which its score, and that of any sample of it, is a matter of sums. */
typedef struct Counts {
    const Metric *metric; /* borrowed */
    int sentences;
    int32_t *counts; /* [sentences, metric_fields] */
} Counts;

/* hypothesis[i] belongs to reference[r][i] for r = 0 .. references-1; references is at least 1. */
void counts_collect(Counts *c, const Metric *m, const Line *hypothesis, const Line *const *reference, int references,
                    int sentences);
void counts_free(Counts *c);
Score counts_score(const Counts *c);
Score counts_sentence_score(const Counts *c, int sentence);

/* What a signature tells besides the options. samples is 0 where there was no resampling. */
typedef struct Setting {
    int references, samples;
    uint64_t seed;
} Setting;

enum { METRIC_TEXT = 256 };
const char *metric_name(char out[METRIC_TEXT], const Metric *m); /* "BLEU", "chrF2", "chrF2++", "exact match" ... */
/* "nrefs:1|case:mixed|...|version:tandem-X", the fields of sacreBLEU in its order; "" where sacreBLEU has no such metric. */
const char *metric_signature(char out[METRIC_TEXT], const Metric *m, const Setting *setting);
int metric_width(const Metric *m); /* decimals to print unless told otherwise */
/* BLEU's "71.0/47.5/34.3/24.5 (BP = 0.999 ratio = 0.999 hyp_len = 12096 ref_len = 12103)", "(978 of 1000)", or "". */
const char *score_details(char out[METRIC_TEXT], const Metric *m, const Score *score);

#endif
