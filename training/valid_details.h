/* What a validation tells beside its scores, as JSON for metrics.jsonl: losses by length, and samples. */
#ifndef TRAINING_VALID_DETAILS_H
#define TRAINING_VALID_DETAILS_H

#include "data/corpus.h"
#include "decoding/translator.h"

/* [{"from":1,"to":10,"pairs":p,"tokens":t,"nll":x},...]: the pairs whose sources have `from` to `to` tokens (null: any
 * number from there), without </s>; their target tokens with </s>, and the mean nll of one. Lengths that no pair has are
 * left out. nll [pairs], summed over a pair's target tokens, is added in the order of the corpus. From memory_alloc. */
char *valid_buckets(const Corpus *corpus, const double *nll);

/* [{"line":i,"source":"..","reference":"..","hypothesis":".."},...]: the lines of valid_sample_line, i from 1.
 * translation [lines]. From memory_alloc. */
char *valid_samples(const ParallelText *text, const Translation *translation, int samples);

/* Sample k of `samples`, spread evenly over the lines: k * lines / samples. At most as many samples as lines. */
int valid_sample_line(int k, int samples, int lines);

#endif
