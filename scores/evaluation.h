/* One metric of one translation, or of two that are compared. */
#ifndef SCORES_EVALUATION_H
#define SCORES_EVALUATION_H

#include "scores/bootstrap.h"

typedef struct SystemScore {
    Score score;
    Interval interval; /* zeros without resampling */
} SystemScore;

typedef struct Evaluation {
    Metric metric;
    char name[METRIC_TEXT], signature[METRIC_TEXT];
    SystemScore hypothesis, other;
    bool compared;  /* is there another one? */
    double p_value; /* where there is */
} Evaluation;

/* Name and signature, without a score yet. */
void evaluation_begin(Evaluation *e, const Metric *m, const Setting *setting);

/* other is NULL, or as many translations by another system; then setting->samples must not be 0. */
void evaluation_run(Evaluation *e, const Metric *m, const Line *hypothesis, const Line *other,
                    const Line *const *reference, int sentences, const Setting *setting);

/* The line that sacreBLEU prints, "BLEU|signature = 41.0 details", with an interval "41.0 (μ = 41.0 ± 0.5)", or the score
 * alone; with so many decimals, or metric_width where that is negative. Where two are compared, a line for the other one, called other_name, and one for the difference. */
void evaluation_print(const Evaluation *e, const char *other_name, int decimals, bool score_only);

#endif
