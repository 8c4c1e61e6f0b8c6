/* The command line of ./translate: one table of options (translate_options.c) parses, checks and explains them. */
#ifndef DECODING_TRANSLATE_OPTIONS_H
#define DECODING_TRANSLATE_OPTIONS_H

#include <stdio.h>

#include "decoding/alignment.h"
#include "decoding/translator.h"

typedef enum SummaryKind { SUMMARY_NONE, SUMMARY_CROSS_ENTROPY, SUMMARY_PERPLEXITY } SummaryKind;

/* As given; numbers below 0 were not. */
typedef struct TranslateOptions {
    char **run; /* [runs] directories, borrowed from argv */
    int runs;
    const char *input, *output, *prefix, *score; /* paths or NULL */
    bool stream, quiet;
    int threads, batch_tokens;
    int beam_size, n_best;
    double length_penalty, coverage_penalty;
    int min_length, max_length, no_repeat_ngram;
    double max_length_factor;
    bool scores, word_scores, pieces;
    AlignmentOptions alignment;
    int alignment_layer, alignment_head;
    int sampling_top_k, seed;
    double sampling_top_p, sampling_temperature;
    bool score_ids, normalize;
    SummaryKind summary;
    bool help, version;
} TranslateOptions;

/* Options in any order among the run directories. False: a wrong call, and why (unless getopt has said so). */
bool translate_options_parse(TranslateOptions *o, int argc, char **argv, Error *error);
void translate_options_print_help(FILE *out);

/* Makes a translator do what was asked for. False: that does not fit together with the run's own settings. */
bool translate_options_apply(Translator *t, const TranslateOptions *o, Error *error);

#endif
