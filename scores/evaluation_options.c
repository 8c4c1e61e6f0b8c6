#include "scores/evaluation_options.h"

#include "base/options.h"
#include "scores/bootstrap.h"

/* clang-format off */
#define OPTION(name, value, kind, field, least, most, choices, help) \
    {name, value, OPTION_##kind, offsetof(EvaluationOptions, field), least, most, choices, help}
#define FLAG(name, field, help) OPTION(name, NULL, FLAG, field, 0, 0, NULL, help)

#define SMOOTHINGS "exp|floor|add-k|none"
static const Option table[] = {
    OPTION("metrics", "M [M...]", WORDS, wanted, 0, 0, "bleu|chrf|chrf++|length_ratio|exact_match",
           "of bleu chrf chrf++ length_ratio exact_match; default: all but chrf++"),
    OPTION("tokenize", "T", CHOICE, bleu.tokenizer, 0, 0, "13a|none|char|intl", "of BLEU: 13a (default), none, char, intl"),
    OPTION("smooth-method", "S", CHOICE, bleu.smoothing, 0, 0, SMOOTHINGS, "of BLEU: exp (default), floor, add-k, none"),
    OPTION("smooth", "S", CHOICE, bleu.smoothing, 0, 0, SMOOTHINGS, "the same"),
    OPTION("smooth-value", "X", REAL, smooth_value, 0, 1e6, NULL, "of floor (default 0.1) and add-k (1)"),
    FLAG("lowercase", bleu.lowercase, "BLEU without regard to case"),
    FLAG("chrf-lowercase", chrf.lowercase, "chrF without regard to case"),
    OPTION("chrf-word-order", "N", WHOLE, chrf.word_order, 0, CHRF_MOST_WORD_ORDER, NULL, "word n-grams in chrf: 0 (default) to 4; 2 makes it chrF2++"),
    FLAG("sentence-level", sentence, "a line of bleu (default), chrf or another metric for each line of HYP"),
    FLAG("confidence", confidence, "95% interval by bootstrap resampling"),
    OPTION("compare", "OTHER", TEXT, compare, 0, 0, NULL, "another translation: its scores, and the p-value of a paired bootstrap test"),
    OPTION("confidence-n", "N", WHOLE, samples, 2, 1e6, NULL, "samples of both (default 1000)"),
    OPTION("seed", "N", WHOLE, seed, 0, 2147483647, NULL, "of both (default 12345)"),
    OPTION("tags", "FILE", TEXT, tags, 0, 0, NULL, "a line of words for each line of REF; exact matches for each word too"),
    OPTION("width", "N", WHOLE, width, 0, 15, NULL, "decimals (scores 1, exact match 2)"),
    FLAG("score-only", score_only, "the score and nothing around it"),
    FLAG("json", json, "as JSON"),
    FLAG("help", help, "this text"),
    FLAG("version", version, "the version"),
};
/* clang-format on */
enum { OPTIONS = sizeof table / sizeof table[0] };

void evaluation_options_print_help(FILE *out) {
    fputs(
        "usage: evaluate HYP REF [REF...] [options]\n"
        "\n"
        "Scores the translations in HYP, line by line, against one or more files of references (plain, .gz or pipes):\n"
        "BLEU and chrF2 with the figures and signatures of sacreBLEU, the length ratio, and exact matches byte for "
        "byte.\n"
        "\n",
        out);
    options_print_help(table, OPTIONS, out);
}

static int count_wanted(const EvaluationOptions *o) {
    int count = 0;
    for (int i = 0; i < FIGURES; i++) count += o->wanted[i];
    return count;
}

static void complete(EvaluationOptions *o) {
    if (count_wanted(o) == 0)
        for (int i = 0; i < FIGURES; i++) o->wanted[i] = o->sentence ? i == FIGURE_BLEU : i != FIGURE_CHRF_PLUS_PLUS;
    o->bleu.smooth_value = o->smooth_value >= 0 ? o->smooth_value : bleu_smooth_default(o->bleu.smoothing);
    o->bleu.effective_order = o->sentence;
}

/* What cannot go together. */
static bool check(const EvaluationOptions *o, Error *error) {
    bool valued = o->bleu.smoothing == BLEU_SMOOTH_FLOOR || o->bleu.smoothing == BLEU_SMOOTH_ADD_K;
    if (o->files < 2) return error_set(error, "give two files, a translation and its reference; see evaluate --help");
    if (o->smooth_value >= 0 && !valued)
        return error_set(error, "--smooth-value is for --smooth-method floor or add-k");
    if (o->sentence && count_wanted(o) > 1)
        return error_set(error, "--sentence-level prints one metric; name one with --metrics");
    if (o->sentence && (o->confidence || o->compare != NULL))
        return error_set(error, "--sentence-level has no --confidence or --compare");
    if (o->tags != NULL && (o->json || o->sentence || !o->wanted[FIGURE_EXACT_MATCH]))
        return error_set(error,
                         "--tags goes with exact_match among the metrics, and without --json and --sentence-level");
    return true;
}

bool evaluation_options_parse(EvaluationOptions *o, int argc, char **argv, Error *error) {
    int first;
    *o = (EvaluationOptions){.samples = BOOTSTRAP_SAMPLES, .seed = BOOTSTRAP_SEED, .width = -1, .smooth_value = -1};
    if (!options_parse(o, table, OPTIONS, argc, argv, NULL, &first, error)) return false;
    o->file = argv + first;
    o->files = argc - first;
    complete(o);
    return o->help || o->version || check(o, error);
}

Metric evaluation_options_metric(const EvaluationOptions *o, Figure figure) {
    static const MetricKind kinds[FIGURES] = {METRIC_BLEU, METRIC_CHRF, METRIC_CHRF, METRIC_LENGTH_RATIO,
                                              METRIC_EXACT_MATCH};
    Metric m = {kinds[figure], o->bleu, o->chrf};
    if (figure == FIGURE_CHRF_PLUS_PLUS) m.chrf.word_order = 2;
    return m;
}

Setting evaluation_options_setting(const EvaluationOptions *o) {
    bool sampled = o->confidence || o->compare != NULL;
    return (Setting){o->files - 1, sampled ? o->samples : 0, sampled ? (uint64_t)o->seed : 0};
}
