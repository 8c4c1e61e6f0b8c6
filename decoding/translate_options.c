#include "decoding/translate_options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"

typedef enum OptionKind { FLAG, WHOLE, REAL, TEXT, SUMMARY, ALIGNMENT } OptionKind;

typedef struct Option {
    const char *name, *value; /* value: what stands for it in the help; NULL for a flag */
    OptionKind kind;
    size_t offset; /* in TranslateOptions */
    double least, most;
    const char *help;
} Option;

/* clang-format off */
#define OPTION(name, value, kind, field, least, most, help) \
    {name, value, kind, offsetof(TranslateOptions, field), least, most, help}

static const Option options[] = {
    OPTION("input", "FILE", TEXT, input, 0, 0, "read this (also .gz) instead of standard input"),
    OPTION("output", "FILE", TEXT, output, 0, 0, "write this (also .gz) instead of standard output"),
    OPTION("threads", "N", WHOLE, threads, 1, 1024, "default: the physical cores that this process may use"),
    OPTION("batch-tokens", "N", WHOLE, batch_tokens, 1, 1e6, "source tokens a thread decodes together, once a hypothesis"),
    OPTION("stream", NULL, FLAG, stream, 0, 0, "answer every line before reading the next"),
    OPTION("quiet", NULL, FLAG, quiet, 0, 0, "no progress on standard error"),

    OPTION("beam-size", "N", WHOLE, beam_size, 1, 1000, "hypotheses kept while searching, 1 is greedy; default: the run's"),
    OPTION("length-penalty", "A", REAL, length_penalty, 0, 100, "scores are log p / length^A; default: the run's"),
    OPTION("coverage-penalty", "B", REAL, coverage_penalty, 0, 100, "scores lose B times what of the source is not attended to; default 0"),
    OPTION("max-length-factor", "F", REAL, max_length_factor, 0, 1000, "at most F * source tokens and some more; default: the run's"),
    OPTION("max-length", "N", WHOLE, max_length, 1, 1e6, "and never more than N target tokens"),
    OPTION("min-length", "N", WHOLE, min_length, 1, 1e6, "at least N target tokens"),
    OPTION("no-repeat-ngram-size", "N", WHOLE, no_repeat_ngram, 1, 1e6, "no N tokens may follow each other twice"),
    OPTION("prefix", "FILE", TEXT, prefix, 0, 0, "how the translation of each line has to begin, line by line"),

    OPTION("n-best", "K", WHOLE, n_best, 1, 1000, "the K best as `line ||| text ||| F0= log p ||| score`, lines from 0"),
    OPTION("scores", NULL, FLAG, scores, 0, 0, "`score ||| text`"),
    OPTION("word-scores", NULL, FLAG, word_scores, 0, 0, "also ` ||| WordScores= ` and log p of each token and of the end"),
    OPTION("pieces", NULL, FLAG, pieces, 0, 0, "tokens, with spaces between, instead of text"),

    OPTION("alignment", "[=KIND]", ALIGNMENT, alignment, 0, 0, "also ` ||| ` and hard, soft, or pairs above a THRESHOLD; default hard"),
    OPTION("alignment-pieces", NULL, FLAG, alignment.pieces, 0, 0, "pairs of tokens instead of words"),
    OPTION("alignment-layer", "L", WHOLE, alignment_layer, 1, 1000, "of this decoder layer, from 1; default: the last"),
    OPTION("alignment-head", "H", WHOLE, alignment_head, 1, 1000, "of this head, from 1; default: the mean of all"),

    OPTION("sampling-topk", "K", WHOLE, sampling_top_k, 0, 1e6, "draw tokens from the K most probable, 0: from all"),
    OPTION("sampling-topp", "P", REAL, sampling_top_p, 1e-6, 1, "draw from the fewest that have probability P together"),
    OPTION("sampling-temperature", "T", REAL, sampling_temperature, 1e-6, 1000, "draw from softmax(logits / T)"),
    OPTION("seed", "N", WHOLE, seed, 0, 2147483647, "of the samples; default 1"),

    OPTION("score", "FILE", TEXT, score, 0, 0, "no search: log p of FILE's lines as translations, one a line"),
    OPTION("score-ids", NULL, FLAG, score_ids, 0, 0, "FILE holds tokens as --pieces prints them, not text"),
    OPTION("normalize", NULL, FLAG, normalize, 0, 0, "log p / length^A (--length-penalty) instead of log p"),
    OPTION("summary", "KIND", SUMMARY, summary, 0, 0, "one figure for all: cross-entropy (nats a token) or perplexity"),

    OPTION("help", NULL, FLAG, help, 0, 0, "this text"),
    OPTION("version", NULL, FLAG, version, 0, 0, "the version"),
};
/* clang-format on */

enum { OPTIONS = sizeof options / sizeof options[0], FIRST_CODE = 256 };

void translate_options_print_help(FILE *out) {
    fputs("usage: translate RUN... [options] < in > out\n"
          "\n"
          "Translates line by line with the model of the run directory RUN, or those of several, which decide\n"
          "together. There is one line out for each line in, in order; a blank line gives a blank line.\n"
          "\n",
          out);
    for (int i = 0; i < OPTIONS; i++) {
        char call[64];
        const char *value = options[i].value ? options[i].value : "";
        snprintf(call, sizeof call, "--%s%s%s", options[i].name, value[0] != '[' ? " " : "", value);
        fprintf(out, "  %-26s  %s\n", call, options[i].help);
    }
    fputs("\ndocs/decoding.md has the formulas, and examples.\n", out);
}

static bool read_number(double *value, const Option *option, const char *text, Error *error) {
    char *end;
    *value = strtod(text, &end);
    bool whole = option->kind == REAL || *value == trunc(*value);
    if (end != text && *end == '\0' && *value >= option->least && *value <= option->most && whole) return true;
    return error_set(error, "--%s %s: give a %snumber from %.10g to %.10g", option->name, text,
                     option->kind == WHOLE ? "whole " : "", option->least, option->most);
}

static bool read_summary(SummaryKind *kind, const char *text, Error *error) {
    if (strcmp(text, "cross-entropy") == 0)
        *kind = SUMMARY_CROSS_ENTROPY;
    else if (strcmp(text, "perplexity") == 0)
        *kind = SUMMARY_PERPLEXITY;
    else
        return error_set(error, "--summary %s: give cross-entropy or perplexity", text);
    return true;
}

static bool read_alignment(AlignmentOptions *a, const Option *option, const char *text, Error *error) {
    bool hard = text == NULL || strcmp(text, "hard") == 0, soft = text != NULL && strcmp(text, "soft") == 0;
    a->kind = hard ? ALIGNMENT_HARD : soft ? ALIGNMENT_SOFT : ALIGNMENT_THRESHOLD;
    if (hard || soft) return true;
    char *end;
    a->threshold = strtod(text, &end);
    if (end != text && *end == '\0' && a->threshold >= 0 && a->threshold <= 1) return true;
    return error_set(error, "--%s=%s: give hard, soft, or a threshold from 0 to 1", option->name, text);
}

static bool read_value(TranslateOptions *o, const Option *option, const char *text, Error *error) {
    void *field = (char *)o + option->offset;
    double number;
    switch (option->kind) {
    case FLAG:
        *(bool *)field = true;
        return true;
    case TEXT:
        *(const char **)field = text;
        return true;
    case WHOLE:
        if (!read_number(&number, option, text, error)) return false;
        *(int *)field = (int)number;
        return true;
    case ALIGNMENT:
        return read_alignment(field, option, text, error);
    case SUMMARY:
        return read_summary(field, text, error);
    default:
        return read_number(field, option, text, error);
    }
}

static void set_defaults(TranslateOptions *o) {
    *o = (TranslateOptions){.threads = cpu_cores()};
    for (int i = 0; i < OPTIONS; i++) {
        void *field = (char *)o + options[i].offset;
        if (options[i].kind == REAL) *(double *)field = -1;
        if (options[i].kind == WHOLE && field != &o->threads) *(int *)field = -1;
    }
}

static bool is_sampling(const TranslateOptions *o) {
    return o->sampling_top_k >= 0 || o->sampling_top_p > 0 || o->sampling_temperature > 0;
}

/* Scoring searches nothing, so what steers a search would be silently without effect. */
static bool check_scoring(const TranslateOptions *o, Error *error) {
    if (o->score == NULL) {
        const char *needs = o->score_ids   ? "--score-ids"
                            : o->normalize ? "--normalize"
                            : o->summary   ? "--summary"
                                           : NULL;
        return needs == NULL || error_set(error, "%s needs --score FILE", needs);
    }
    const char *clash = o->n_best > 0                                                         ? "--n-best"
                        : o->prefix != NULL                                                   ? "--prefix"
                        : o->scores                                                           ? "--scores"
                        : o->pieces                                                           ? "--pieces"
                        : o->beam_size > 1                                                    ? "--beam-size"
                        : o->coverage_penalty > 0                                             ? "--coverage-penalty"
                        : o->min_length > 0 || o->max_length > 0 || o->max_length_factor >= 0 ? "a limit of length"
                        : is_sampling(o)                                                      ? "sampling"
                        : o->no_repeat_ngram > 0                                              ? "--no-repeat-ngram-size"
                                                                                              : NULL;
    if (clash != NULL) return error_set(error, "--score searches nothing: leave out %s", clash);
    if (o->length_penalty >= 0 && !o->normalize)
        return error_set(error, "--length-penalty with --score needs --normalize");
    const char *lost = o->normalize                          ? "--normalize"
                       : o->word_scores                      ? "--word-scores"
                       : o->alignment.kind != ALIGNMENT_NONE ? "--alignment"
                                                             : NULL;
    return o->summary == SUMMARY_NONE || lost == NULL ||
           error_set(error, "--summary prints one figure for all lines: leave out %s", lost);
}

static bool check_options(const TranslateOptions *o, Error *error) {
    if (o->help || o->version) return true;
    if (o->runs == 0) return error_set(error, "no run directory was given; see translate --help");
    if (o->alignment.kind == ALIGNMENT_NONE &&
        (o->alignment.pieces || o->alignment_layer > 0 || o->alignment_head > 0) && !(o->coverage_penalty > 0))
        return error_set(error, "a layer, head or pieces of alignment were given without --alignment");
    if (o->seed >= 0 && !is_sampling(o))
        return error_set(error,
                         "--seed without sampling; give --sampling-topk, --sampling-topp or --sampling-temperature");
    if (o->max_length > 0 && o->min_length > o->max_length)
        return error_set(error, "--min-length %d is above --max-length %d; no translation has both", o->min_length,
                         o->max_length);
    return check_scoring(o, error);
}

static int arguments_of(const Option *option) {
    return option->value == NULL ? no_argument : option->value[0] == '[' ? optional_argument : required_argument;
}

bool translate_options_parse(TranslateOptions *o, int argc, char **argv, Error *error) {
    struct option table[OPTIONS + 1] = {{0}};
    for (int i = 0; i < OPTIONS; i++)
        table[i] = (struct option){options[i].name, arguments_of(&options[i]), NULL, FIRST_CODE + i};
    set_defaults(o);
    for (int code; (code = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (code < FIRST_CODE) return error_set(error, "see translate --help");
        if (!read_value(o, &options[code - FIRST_CODE], optarg, error)) return false;
    }
    o->run = argv + optind;
    o->runs = argc - optind;
    return check_options(o, error);
}

/* With samples the beam is as wide as their number: one, or K. */
static bool check_sizes(Translator *t, const TranslateOptions *o, Error *error) {
    BeamOptions *b = &t->beam;
    if (b->sampling.on && o->beam_size > 0)
        return error_set(error, "--beam-size has no meaning for samples; --n-best K gives K of them");
    if (b->sampling.on) b->beam_size = b->n_best;
    if (b->n_best > b->beam_size)
        return error_set(error, "--n-best %d: a beam of %d finds at most %d; give --beam-size %d", b->n_best,
                         b->beam_size, b->beam_size, b->n_best);
    for (int i = 0; i < t->models; i++) {
        const ModelConfig *c = &t->model[i].p->config;
        if (b->layer >= c->decoder_layers)
            return error_set(error, "--alignment-layer %d: the decoder has %d layers", b->layer + 1, c->decoder_layers);
        if (b->head >= c->heads)
            return error_set(error, "--alignment-head %d: the model has %d heads", b->head + 1, c->heads);
    }
    return true;
}

bool translate_options_apply(Translator *t, const TranslateOptions *o, Error *error) {
    BeamOptions *b = &t->beam;
    DecodeLimits *l = &t->limits;
    if (o->batch_tokens > 0) t->batch_tokens = o->batch_tokens;
    if (o->beam_size > 0) b->beam_size = o->beam_size;
    if (o->n_best > 0) b->n_best = o->n_best;
    if (o->length_penalty >= 0) b->length_penalty = o->length_penalty;
    if (o->coverage_penalty > 0) b->coverage_penalty = o->coverage_penalty;
    if (o->max_length_factor >= 0) l->max_length_factor = o->max_length_factor;
    if (o->max_length > 0) l->max_length = o->max_length;
    if (o->min_length > 0) l->min_length = o->min_length;
    if (o->no_repeat_ngram > 0) l->no_repeat_ngram = o->no_repeat_ngram;
    b->token_log_p = o->word_scores;
    b->attention = o->alignment.kind != ALIGNMENT_NONE;
    if (o->alignment_layer > 0) b->layer = o->alignment_layer - 1;
    if (o->alignment_head > 0) b->head = o->alignment_head - 1;
    if (is_sampling(o))
        b->sampling = (Sampling){.on = true,
                                 .top_k = o->sampling_top_k > 0 ? o->sampling_top_k : 0,
                                 .top_p = o->sampling_top_p > 0 ? o->sampling_top_p : 1,
                                 .temperature = o->sampling_temperature > 0 ? o->sampling_temperature : 1,
                                 .seed = o->seed >= 0 ? (uint64_t)o->seed : 1};
    b->scores = o->scores || o->n_best > 0 || o->score != NULL;
    if (o->score != NULL) b->beam_size = 1;
    t->keep = b->scores || b->token_log_p || o->pieces || b->attention;
    return check_sizes(t, o, error);
}
