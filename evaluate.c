/* ./evaluate HYP REF [REF...]: BLEU and chrF as sacreBLEU computes and prints them, exact match, length ratio. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/version.h"
#include "data/exact_match.h"
#include "data/text_file.h"
#include "scores/evaluation_json.h"
#include "tokenizer/utf8.h"

static const char USAGE[] =
    "usage: evaluate HYP REF [REF...] [OPTIONS]\n"
    "\n"
    "Scores the translations in HYP, line by line, against one or more files of references (plain or .gz): BLEU and\n"
    "chrF2 with the figures and signatures of sacreBLEU, the length ratio, and exact matches byte for byte.\n"
    "\n"
    "  --metrics M [M...]      of bleu chrf chrf++ length_ratio exact_match (all but chrf++; with --sentence: bleu)\n"
    "  --tokenize T            of BLEU: 13a (default), intl, char, none\n"
    "  --smooth-method S       of BLEU: exp (default), floor, add-k, none; --smooth is the same\n"
    "  --smooth-value X        for floor (default 0.1) and add-k (1)\n"
    "  --lowercase             BLEU without regard to case\n"
    "  --chrf-lowercase        chrF without regard to case\n"
    "  --chrf-word-order N     word n-grams in chrf: 0 (default) to 4; 2 makes it chrF2++\n"
    "  --sentence-level        a line of bleu, chrf or chrf++ for each line of HYP\n"
    "  --confidence            95% interval by bootstrap resampling\n"
    "  --compare OTHER         another translation: its scores, and the p-value of a paired bootstrap test\n"
    "  --confidence-n N        samples of both (default 1000)\n"
    "  --seed N                of both (default 12345)\n"
    "  --tags FILE             a line of words for each line of REF; exact matches for each word too\n"
    "  --width N               decimals (scores 1, exact match 2)\n"
    "  --score-only            the score and nothing around it\n"
    "  --json                  as JSON\n"
    "  --help, --version\n";

enum { BLEU, CHRF, CHRF_PLUS_PLUS, LENGTH_RATIO, EXACT_MATCH, FIGURES };
static const char *const FIGURE_NAMES[FIGURES + 1] = {"bleu", "chrf", "chrf++", "length_ratio", "exact_match", NULL};
enum { MOST_LINE_MB = 1, TOKENIZED_LINES = 100 };

typedef struct Options {
    bool wanted[FIGURES], chosen; /* chosen: by --metrics */
    BleuOptions bleu;
    ChrfOptions chrf;
    int bleu_lowercase, chrf_lowercase, sentence, confidence, score_only, json; /* flags of getopt_long */
    const char *compare, *tags;                                                 /* NULL where not given */
    int samples, seed, width;                                                   /* width -1: each metric's own */
    double smooth_value;                                                        /* -1: the method's own */
} Options;

static Options options = {.samples = BOOTSTRAP_SAMPLES, .seed = BOOTSTRAP_SEED, .width = -1, .smooth_value = -1};

typedef struct Texts {
    Lines hypothesis, other, tags, *reference; /* [references] */
    const Line **reference_line;               /* [references] their lines */
    int references;
} Texts;

/* A line so long that counting its n-grams could take all memory is refused; what is not UTF-8 is said. */
static bool check_lines(const Lines *lines, const char *path, Error *error) {
    size_t broken = 0, first = 0;
    for (size_t i = lines->count; i-- > 0;) {
        if (lines->line[i].length > (size_t)MOST_LINE_MB << 20)
            return error_set(error,
                             "%s:%zu: a line of %zu bytes; lines of at most %d MB can be scored, one sentence a line",
                             path, i + 1, lines->line[i].length, MOST_LINE_MB);
        if (utf8_valid(lines->line[i].text, lines->line[i].length)) continue;
        first = i + 1;
        broken++;
    }
    if (broken > 0)
        fprintf(stderr, "evaluate: note: %s:%zu: not UTF-8 (%zu such lines); what is wrong is read as U+FFFD\n", path,
                first, broken);
    return true;
}

/* sacreBLEU's warning, from as many lines on: whoever scores tokenized text gets figures that nobody can compare. */
static void note_tokenized(const Lines *lines, const char *path) {
    const Line *line = lines->line;
    size_t found = 0;
    for (size_t i = 0; i < lines->count; i++)
        found += line[i].length >= 2 && memcmp(line[i].text + line[i].length - 2, " .", 2) == 0;
    if (found < TOKENIZED_LINES) return;
    fprintf(stderr, "evaluate: note: %s: %zu lines end in \" .\"; score plain text, or say --tokenize none\n", path,
            found);
}

/* The lines of a file that belongs line by line to one that is read already (NULL for the first). */
static bool read_lines(Lines *lines, const char *path, const Lines *like, const char *like_path, Error *error) {
    if (!text_read_once(lines, path, error)) return false;
    if (like == NULL || lines->count == like->count) return check_lines(lines, path, error);
    return error_set(error, "%s has %zu lines but %s has %zu; they must belong together line by line", like_path,
                     like->count, path, lines->count);
}

static bool read_texts(Texts *t, const Options *o, char **path, int count, Error *error) {
    *t = (Texts){.references = count - 1};
    t->reference = memory_alloc((size_t)count, sizeof *t->reference, "references");
    t->reference_line = memory_alloc((size_t)count, sizeof *t->reference_line, "references");
    if (!read_lines(&t->hypothesis, path[0], NULL, NULL, error)) return false;
    if (o->wanted[BLEU] && o->bleu.tokenizer != BLEU_NONE) note_tokenized(&t->hypothesis, path[0]);
    for (int r = 0; r < t->references; r++) {
        if (!read_lines(&t->reference[r], path[r + 1], &t->hypothesis, path[0], error)) return false;
        t->reference_line[r] = t->reference[r].line;
    }
    return (o->compare == NULL || read_lines(&t->other, o->compare, &t->hypothesis, path[0], error)) &&
           (o->tags == NULL || read_lines(&t->tags, o->tags, &t->hypothesis, path[0], error));
}

static void free_texts(Texts *t) {
    lines_free(&t->hypothesis);
    lines_free(&t->other);
    lines_free(&t->tags);
    for (int r = 0; r < t->references; r++) lines_free(&t->reference[r]);
    memory_free(t->reference);
    memory_free(t->reference_line);
}

static Metric metric_of(const Options *o, int figure) {
    static const MetricKind kinds[FIGURES] = {METRIC_BLEU, METRIC_CHRF, METRIC_CHRF, METRIC_LENGTH_RATIO,
                                              METRIC_EXACT_MATCH};
    Metric m = {kinds[figure], o->bleu, o->chrf};
    if (figure == CHRF_PLUS_PLUS) m.chrf.word_order = 2;
    return m;
}

static Setting setting_of(const Options *o, const Texts *t) {
    bool sampled = o->confidence || o->compare != NULL;
    return (Setting){t->references, sampled ? o->samples : 0, sampled ? (uint64_t)o->seed : 0};
}

/* Exact matches for each word of the tag file. */
static void print_tags(const Options *o, const Texts *t) {
    ExactMatch m = exact_match_count(&t->hypothesis, t->reference, t->references, &t->tags);
    int width = o->width < 0 ? 2 : o->width;
    for (int i = 0; i < m.tags; i++) {
        const TagCount *c = &m.tag[i];
        printf("  %-28.*s %*.*f (%d of %d)\n", (int)c->tag.length, c->tag.text, width + 4, width,
               exact_match_percent(c->exact, c->lines), c->exact, c->lines);
    }
    memory_free(m.tag);
}

static void evaluate_corpus(const Options *o, const Texts *t, const char *name) {
    Evaluation e[FIGURES];
    Setting setting = setting_of(o, t);
    int count = 0;
    for (int figure = 0; figure < FIGURES; figure++) {
        if (!o->wanted[figure]) continue;
        Metric m = metric_of(o, figure);
        evaluation_run(&e[count], &m, t->hypothesis.line, o->compare ? t->other.line : NULL, t->reference_line,
                       (int)t->hypothesis.count, &setting);
        if (!o->json) evaluation_print(&e[count], o->compare, o->width, o->score_only);
        if (o->tags != NULL && figure == EXACT_MATCH) print_tags(o, t);
        count++;
    }
    if (o->json && o->compare != NULL)
        evaluations_print_compared_json(e, count, name, o->compare);
    else if (o->json)
        evaluations_print_json(e, count, o->width);
}

/* A line for each line, of the one metric that is wanted. */
static void evaluate_sentences(const Options *o, const Texts *t) {
    int figure = 0;
    while (!o->wanted[figure]) figure++;
    Counts counts;
    Setting setting = setting_of(o, t);
    Evaluation e;
    evaluation_begin(&e, (Metric[]){metric_of(o, figure)}, &setting);
    counts_collect(&counts, &e.metric, t->hypothesis.line, t->reference_line, t->references, (int)t->hypothesis.count);
    for (int i = 0; i < counts.sentences; i++) {
        e.hypothesis.score = counts_sentence_score(&counts, i);
        if (o->json)
            evaluation_print_json_line(&e, o->width);
        else
            evaluation_print(&e, NULL, o->width, o->score_only);
    }
    counts_free(&counts);
}

enum {
    OPTION_METRICS = 256,
    OPTION_TOKENIZE,
    OPTION_SMOOTH,
    OPTION_SMOOTH_VALUE,
    OPTION_CHRF_WORD_ORDER,
    OPTION_COMPARE,
    OPTION_SAMPLES,
    OPTION_SEED,
    OPTION_TAGS,
    OPTION_WIDTH,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option OPTIONS[] = {{"metrics", required_argument, NULL, OPTION_METRICS},
                                        {"tokenize", required_argument, NULL, OPTION_TOKENIZE},
                                        {"smooth", required_argument, NULL, OPTION_SMOOTH},
                                        {"smooth-method", required_argument, NULL, OPTION_SMOOTH},
                                        {"smooth-value", required_argument, NULL, OPTION_SMOOTH_VALUE},
                                        {"lowercase", no_argument, &options.bleu_lowercase, 1},
                                        {"chrf-lowercase", no_argument, &options.chrf_lowercase, 1},
                                        {"chrf-word-order", required_argument, NULL, OPTION_CHRF_WORD_ORDER},
                                        {"sentence-level", no_argument, &options.sentence, 1},
                                        {"confidence", no_argument, &options.confidence, 1},
                                        {"confidence-n", required_argument, NULL, OPTION_SAMPLES},
                                        {"compare", required_argument, NULL, OPTION_COMPARE},
                                        {"seed", required_argument, NULL, OPTION_SEED},
                                        {"tags", required_argument, NULL, OPTION_TAGS},
                                        {"width", required_argument, NULL, OPTION_WIDTH},
                                        {"score-only", no_argument, &options.score_only, 1},
                                        {"json", no_argument, &options.json, 1},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {"version", no_argument, NULL, OPTION_VERSION},
                                        {NULL, 0, NULL, 0}};

static bool bad(const char *option, const char *value, const char *remedy) {
    fprintf(stderr, "evaluate: --%s cannot be \"%s\"; give %s\n", option, value, remedy);
    return false;
}

static int figure_called(const char *name) {
    int figure = 0;
    while (figure < FIGURES && strcmp(FIGURE_NAMES[figure], name) != 0) figure++;
    return figure;
}

static bool read_tokenizer(BleuOptions *b) {
    for (b->tokenizer = 0; b->tokenizer < BLEU_TOKENIZERS; b->tokenizer++)
        if (strcmp(bleu_tokenizer_name(b->tokenizer), optarg) == 0) return true;
    return bad("tokenize", optarg, "13a, intl, char or none");
}

static bool read_smoothing(BleuOptions *b) {
    for (b->smoothing = 0; b->smoothing < BLEU_SMOOTHINGS; b->smoothing++)
        if (strcmp(bleu_smoothing_name(b->smoothing), optarg) == 0) return true;
    return bad("smooth-method", optarg, "exp, floor, add-k or none");
}

static bool read_real(double *value, const char *option, double most, const char *remedy) {
    char *end;
    *value = strtod(optarg, &end);
    return (end != optarg && *end == '\0' && *value >= 0 && *value <= most) || bad(option, optarg, remedy);
}

static bool read_integer(int *value, const char *option, int least, int most, const char *remedy) {
    double number;
    if (!read_real(&number, option, most, remedy)) return false;
    *value = (int)number;
    return (*value >= least && *value == number) || bad(option, optarg, remedy);
}

/* Takes its argument and those after it as long as they name metrics, as sacreBLEU does; commas part them too. */
static bool read_metrics(Options *o, int argc, char **argv) {
    for (char *list = optarg; list != NULL;) {
        char *rest = NULL;
        for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
            int figure = figure_called(name);
            if (figure == FIGURES) return bad("metrics", name, "any of bleu, chrf, chrf++, length_ratio, exact_match");
            o->wanted[figure] = o->chosen = true;
        }
        list = optind < argc && figure_called(argv[optind]) < FIGURES ? argv[optind++] : NULL;
    }
    return o->chosen || bad("metrics", "", "any of bleu, chrf, chrf++, length_ratio, exact_match");
}

/* One option that has a value; false where the value is wrong. */
static bool read_option(Options *o, int option, int argc, char **argv) {
    switch (option) {
    case OPTION_METRICS:
        return read_metrics(o, argc, argv);
    case OPTION_TOKENIZE:
        return read_tokenizer(&o->bleu);
    case OPTION_SMOOTH:
        return read_smoothing(&o->bleu);
    case OPTION_SMOOTH_VALUE:
        return read_real(&o->smooth_value, "smooth-value", 1e6, "a number from 0");
    case OPTION_CHRF_WORD_ORDER:
        return read_integer(&o->chrf.word_order, "chrf-word-order", 0, CHRF_MOST_WORD_ORDER, "0 to 4");
    case OPTION_SAMPLES:
        return read_integer(&o->samples, "confidence-n", 2, 1000000, "2 to 1000000 samples");
    case OPTION_SEED:
        return read_integer(&o->seed, "seed", 0, INT32_MAX, "a whole number from 0 to 2147483647");
    case OPTION_WIDTH:
        return read_integer(&o->width, "width", 0, 15, "0 to 15 decimals");
    case OPTION_COMPARE:
        o->compare = optarg;
        return true;
    case OPTION_TAGS:
        o->tags = optarg;
        return true;
    default:
        fputs("evaluate: see evaluate --help\n", stderr);
        return false;
    }
}

/* What cannot go together. */
static const char *clash(const Options *o, int files) {
    int figures = 0;
    for (int i = 0; i < FIGURES; i++) figures += o->wanted[i];
    bool valued = o->bleu.smoothing == BLEU_SMOOTH_FLOOR || o->bleu.smoothing == BLEU_SMOOTH_ADD_K;
    if (files < 2) return "give two files, a translation and its reference; see evaluate --help";
    if (o->smooth_value >= 0 && !valued) return "--smooth-value is for --smooth-method floor or add-k";
    if (o->sentence && figures > 1) return "--sentence-level prints one metric; name one with --metrics";
    if (o->sentence && (o->confidence || o->compare)) return "--sentence-level has no --confidence or --compare";
    if (o->tags != NULL && (o->json || o->sentence || !o->wanted[EXACT_MATCH]))
        return "--tags goes with exact_match among the metrics, and without --json and --sentence-level";
    return NULL;
}

static void complete(Options *o) {
    if (!o->chosen) o->wanted[BLEU] = true;
    if (!o->chosen && !o->sentence) o->wanted[CHRF] = o->wanted[LENGTH_RATIO] = o->wanted[EXACT_MATCH] = true;
    o->bleu.smooth_value = o->smooth_value >= 0 ? o->smooth_value : bleu_smooth_default(o->bleu.smoothing);
    o->bleu.lowercase = o->bleu_lowercase;
    o->bleu.effective_order = o->sentence;
    o->chrf.lowercase = o->chrf_lowercase;
}

static int fail(int status, const char *message) {
    fprintf(stderr, "evaluate: %s\n", message);
    return status;
}

int main(int argc, char **argv) {
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        if (option == OPTION_HELP) return fputs(USAGE, stdout) < 0;
        if (option == OPTION_VERSION) return puts("evaluate (Tandem) " TANDEM_VERSION) < 0;
        if (option != 0 && !read_option(&options, option, argc, argv)) return 2; /* 0: a flag, which is set */
    }
    complete(&options);
    const char *wrong = clash(&options, argc - optind);
    if (wrong != NULL) return fail(2, wrong);
    Error error = {""};
    Texts texts;
    bool good = read_texts(&texts, &options, argv + optind, argc - optind, &error);
    if (good && options.sentence)
        evaluate_sentences(&options, &texts);
    else if (good)
        evaluate_corpus(&options, &texts, argv[optind]);
    free_texts(&texts);
    if (!good) return fail(1, error.text);
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, "evaluate: writing failed: %s; is the disk full?\n", strerror(errno));
    return 1;
}
