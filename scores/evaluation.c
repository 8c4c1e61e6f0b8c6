#include "scores/evaluation.h"

#include <assert.h>
#include <stdio.h>

#include "base/memory.h"

/* Score and interval of one system; its samples' scores, from memory_alloc, where there are samples. */
static double *score_system(SystemScore *s, const Metric *m, const Line *hypothesis, const Line *const *reference,
                            int sentences, const Setting *setting) {
    Counts counts;
    double *samples = NULL;
    counts_collect(&counts, m, hypothesis, reference, setting->references, sentences);
    *s = (SystemScore){.score = counts_score(&counts)};
    if (setting->samples > 0) {
        samples = memory_alloc((size_t)setting->samples, sizeof *samples, "scores of samples");
        bootstrap_scores(samples, &counts, setting->samples, setting->seed);
    }
    counts_free(&counts);
    return samples;
}

void evaluation_begin(Evaluation *e, const Metric *m, const Setting *setting) {
    *e = (Evaluation){.metric = *m};
    metric_name(e->name, m);
    metric_signature(e->signature, m, setting);
}

void evaluation_run(Evaluation *e, const Metric *m, const Line *hypothesis, const Line *other,
                    const Line *const *reference, int sentences, const Setting *setting) {
    assert(other == NULL || setting->samples > 0);
    evaluation_begin(e, m, setting);
    e->compared = other != NULL;
    double *samples = score_system(&e->hypothesis, m, hypothesis, reference, sentences, setting);
    if (other != NULL) {
        double *others = score_system(&e->other, m, other, reference, sentences, setting);
        e->p_value =
            bootstrap_p_value(samples, others, setting->samples, e->hypothesis.score.value - e->other.score.value);
        e->other.interval = bootstrap_interval(others, setting->samples);
        memory_free(others);
    }
    if (samples != NULL) e->hypothesis.interval = bootstrap_interval(samples, setting->samples);
    memory_free(samples);
}

/* As in sacreBLEU, there is no interval around a mean of 0. */
static void print_score(const SystemScore *s, int width) {
    const Interval *i = &s->interval;
    printf("%.*f", width, s->score.value);
    if (i->mean > 0) printf(" (μ = %.*f ± %.*f)", width, i->mean, width, i->half);
}

static void print_system(const Evaluation *e, const SystemScore *s, int width, bool score_only) {
    char details[METRIC_TEXT];
    score_details(details, &e->metric, &s->score);
    print_score(s, width);
    if (!score_only && details[0] != '\0') printf(" %s", details);
    puts("");
}

void evaluation_print(const Evaluation *e, const char *other_name, int decimals, bool score_only) {
    int width = decimals < 0 ? metric_width(&e->metric) : decimals;
    if (!score_only) printf("%s%s%s = ", e->name, e->signature[0] ? "|" : "", e->signature);
    print_system(e, &e->hypothesis, width, score_only);
    if (!e->compared) return;
    if (!score_only) printf("  %s = ", other_name);
    print_system(e, &e->other, width, score_only);
    if (score_only) return;
    printf("  difference = %+.*f (p = %.4f)%s\n", width, e->hypothesis.score.value - e->other.score.value, e->p_value,
           e->p_value > 0.05 ? "" : "*");
}
