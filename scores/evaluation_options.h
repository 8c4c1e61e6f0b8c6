/* The command line of ./evaluate: one table of options (evaluation_options.c), and what they ask for. */
#ifndef SCORES_EVALUATION_OPTIONS_H
#define SCORES_EVALUATION_OPTIONS_H

#include <stdio.h>

#include "base/error.h"
#include "scores/metric.h"

/* What --metrics may name, in the order of the output. */
typedef enum Figure {
    FIGURE_BLEU,
    FIGURE_CHRF,
    FIGURE_CHRF_PLUS_PLUS,
    FIGURE_LENGTH_RATIO,
    FIGURE_EXACT_MATCH,
    FIGURES
} Figure;

typedef struct EvaluationOptions {
    char **file; /* [files] the translation, then its references; borrowed from argv */
    int files;
    bool wanted[FIGURES];
    BleuOptions bleu;
    ChrfOptions chrf;
    bool sentence, confidence, score_only, json, help, version;
    const char *compare, *tags; /* paths, NULL where not given */
    int samples, seed, width;   /* width -1: each metric's own */
    double smooth_value;        /* as given; -1: the method's own */
} EvaluationOptions;

/* False: a wrong call, and why. */
bool evaluation_options_parse(EvaluationOptions *o, int argc, char **argv, Error *error);
void evaluation_options_print_help(FILE *out);

Metric evaluation_options_metric(const EvaluationOptions *o, Figure figure);
Setting evaluation_options_setting(const EvaluationOptions *o);

#endif
