/* Evaluations printed as JSON, with the objects and keys of sacreBLEU. Decimals as for evaluation_print. */
#ifndef SCORES_EVALUATION_JSON_H
#define SCORES_EVALUATION_JSON_H

#include "scores/evaluation.h"

/* Of the hypothesis: an object with name, score, signature and each of its fields, interval and details where there are
 * any. Several are a list, one stands by itself. */
void evaluations_print_json(const Evaluation *e, int count, int decimals);
void evaluation_print_json_line(const Evaluation *e, int decimals); /* on one line */

/* A list of the two systems, each an object of its metrics: score, p_value (null for the hypothesis), mean and ci (half of
 * the interval) of the samples, unrounded. */
void evaluations_print_compared_json(const Evaluation *e, int count, const char *name, const char *other_name);

#endif
