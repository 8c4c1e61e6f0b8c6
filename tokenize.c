/* ./tokenize RUN < in > out: the tokenizer alone, text to pieces and back; ./tokenize --train learns one. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/version.h"
#include "data/text_file.h"
#include "run/run_directory.h"
#include "tokenizer/id_text.h"
#include "tokenizer/text_report.h"
#include "tokenizer/utf8.h"

static const char USAGE[] =
    "usage: tokenize RUN [options] < in > out\n"
    "       tokenize --model FILE.json [options] < in > out\n"
    "       tokenize --train --vocab-size N --output FILE.json [options] FILES...\n"
    "\n"
    "Splits standard input, line by line, into the pieces of the tokenizer of the run directory RUN, with\n"
    "a space between them. There is one line out for each line in.\n"
    "\n"
    "  --ids             numbers instead of pieces\n"
    "  --pieces          pieces (the default)\n"
    "  --decode          the other way: lines of pieces, or with --ids of numbers, to text\n"
    "  --side SIDE       source (the default) or target, for a RUN with separate vocabularies\n"
    "  --dropout RATE    BPE-dropout: leave out merges with this probability, as training would\n"
    "  --seed N          of the dropout; default 1\n"
    "  --invalid-utf8 replace|reject    read bytes that are not UTF-8 as U+FFFD (the default), or stop\n"
    "\n"
    "With --train, learns a tokenizer from text files (plain or .gz) together, and writes it as a\n"
    "Hugging Face tokenizer.json:\n"
    "\n"
    "  --vocab-size N    entries wanted, the 260 fixed ones included\n"
    "  --output FILE     where to write it\n"
    "  --type bpe|word|char|byte           default bpe\n"
    "  --normalization none|nfc|nfkc       default none, which loses nothing\n"
    "  --lowercase                         lower-case all text\n"
    "  --min-frequency N                   characters, pairs and words seen less often get no entry; default 2\n"
    "  --help, --version\n";

/* Options of using a tokenizer, of learning one, and of both. */
enum { OPTION_IDS = 256, OPTION_PIECES, OPTION_DECODE, OPTION_MODEL, OPTION_SIDE, OPTION_DROPOUT, OPTION_SEED };
enum { OPTION_SIZE = 320, OPTION_OUTPUT, OPTION_TYPE, OPTION_FORM, OPTION_LOWERCASE, OPTION_FREQUENCY };
enum { OPTION_TRAIN = 400, OPTION_INVALID, OPTION_HELP, OPTION_VERSION };

static const struct option OPTIONS[] = {{"ids", no_argument, NULL, OPTION_IDS},
                                        {"pieces", no_argument, NULL, OPTION_PIECES},
                                        {"decode", no_argument, NULL, OPTION_DECODE},
                                        {"model", required_argument, NULL, OPTION_MODEL},
                                        {"side", required_argument, NULL, OPTION_SIDE},
                                        {"dropout", required_argument, NULL, OPTION_DROPOUT},
                                        {"seed", required_argument, NULL, OPTION_SEED},
                                        {"invalid-utf8", required_argument, NULL, OPTION_INVALID},
                                        {"train", no_argument, NULL, OPTION_TRAIN},
                                        {"vocab-size", required_argument, NULL, OPTION_SIZE},
                                        {"output", required_argument, NULL, OPTION_OUTPUT},
                                        {"type", required_argument, NULL, OPTION_TYPE},
                                        {"normalization", required_argument, NULL, OPTION_FORM},
                                        {"lowercase", no_argument, NULL, OPTION_LOWERCASE},
                                        {"min-frequency", required_argument, NULL, OPTION_FREQUENCY},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {"version", no_argument, NULL, OPTION_VERSION},
                                        {NULL, 0, NULL, 0}};

typedef struct Arguments {
    bool train, decode;
    IdForm form;
    InvalidUtf8 invalid;
    const char *model, *output;
    char **files; /* [count] the text to learn from, or RUN */
    int count;
    int side; /* 0 source, 1 target */
    double dropout, seed;
    TokenizerOptions learn;
    const char *of_learning, *of_using; /* an option that belongs to one of the two, or NULL */
} Arguments;

/* ---- the command line ---- */

static bool read_number(double *value, const char *text, const char *option, double least, double most) {
    char *end;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value >= least && *value <= most) return true;
    fprintf(stderr, "tokenize: --%s %s: give a number from %g to %g\n", option, text, least, most);
    return false;
}

static bool read_int(int *value, const char *text, const char *option, int least, int most) {
    double number;
    if (!read_number(&number, text, option, least, most)) return false;
    *value = (int)number;
    if (number == *value) return true;
    fprintf(stderr, "tokenize: --%s %s: give a whole number\n", option, text);
    return false;
}

/* *value is the place of the text in names[0..count). */
static bool read_choice(int *value, const char *text, const char *option, const char *const *names, int count) {
    for (*value = 0; *value < count; ++*value)
        if (strcmp(text, names[*value]) == 0) return true;
    fprintf(stderr, "tokenize: --%s %s: give", option, text);
    for (int i = 0; i < count; i++) fprintf(stderr, "%s %s", i > 0 ? " or" : "", names[i]);
    fputc('\n', stderr);
    return false;
}

static bool read_learning_option(Arguments *a, int option, const char *name) {
    static const char *const types[] = {"bpe", "word", "char", "byte"}, *const forms[] = {"none", "nfc", "nfkc"};
    int choice;
    a->of_learning = name;
    switch (option) {
    case OPTION_SIZE:
        return read_int(&a->learn.vocab_size, optarg, name, 261, 1000000);
    case OPTION_OUTPUT:
        a->output = optarg;
        return true;
    case OPTION_TYPE:
        if (!read_choice(&choice, optarg, name, types, 4)) return false;
        a->learn.type = (TokenizerType)choice;
        return true;
    case OPTION_FORM:
        if (!read_choice(&choice, optarg, name, forms, 3)) return false;
        a->learn.normalization = (Normalization)choice;
        return true;
    case OPTION_LOWERCASE:
        return a->learn.lowercase = true;
    default:
        return read_int(&a->learn.min_frequency, optarg, name, 1, 1000000);
    }
}

static bool read_using_option(Arguments *a, int option, const char *name) {
    static const char *const sides[] = {"source", "target"};
    a->of_using = name;
    switch (option) {
    case OPTION_IDS:
        a->form = ID_FORM_NUMBERS;
        return true;
    case OPTION_PIECES:
        a->form = ID_FORM_PIECES;
        return true;
    case OPTION_DECODE:
        return a->decode = true;
    case OPTION_MODEL:
        a->model = optarg;
        return true;
    case OPTION_SIDE:
        return read_choice(&a->side, optarg, name, sides, 2);
    case OPTION_DROPOUT:
        return read_number(&a->dropout, optarg, name, 0, 0.999);
    default:
        return read_number(&a->seed, optarg, name, 0, 1e15);
    }
}

static bool wrong(const char *fact) {
    fprintf(stderr, "tokenize: %s; see tokenize --help\n", fact);
    return false;
}

static bool check(const Arguments *a) {
    const char *stray = a->train ? a->of_using : a->of_learning;
    if (stray != NULL) {
        fprintf(stderr, "tokenize: --%s is for calls %s --train; see tokenize --help\n", stray,
                a->train ? "without" : "with");
        return false;
    }
    if (a->train && a->output == NULL) return wrong("--output is missing: the file to write");
    if (a->train && a->learn.vocab_size == 0 && a->learn.type != TOKENIZER_BYTE)
        return wrong("--vocab-size is missing");
    if (a->train) return a->count > 0 || wrong("no text file was given");
    if (a->decode && a->dropout > 0) return wrong("--dropout is for encoding, not for --decode");
    if (a->model != NULL) return a->count == 0 || wrong("give a run directory or --model, not both");
    return a->count == 1 || wrong(a->count == 0 ? "no run directory was given" : "give one run directory");
}

/* -1: go on; otherwise the exit status. */
static int parse(Arguments *a, int argc, char **argv) {
    static const char *const invalid[] = {"replace", "reject"};
    for (int option, place, choice; (option = getopt_long(argc, argv, "", OPTIONS, &place)) != -1;) {
        bool good = true;
        if (option == OPTION_HELP) {
            fputs(USAGE, stdout);
            return 0;
        } else if (option == OPTION_VERSION) {
            puts("tokenize (Tandem) " TANDEM_VERSION);
            return 0;
        } else if (option == OPTION_TRAIN) {
            a->train = true;
        } else if (option == OPTION_INVALID) {
            good = read_choice(&choice, optarg, "invalid-utf8", invalid, 2);
            a->invalid = (InvalidUtf8)choice;
        } else if (option >= OPTION_SIZE && option <= OPTION_FREQUENCY) {
            good = read_learning_option(a, option, OPTIONS[place].name);
        } else if (option >= OPTION_IDS && option <= OPTION_SEED) {
            good = read_using_option(a, option, OPTIONS[place].name);
        } else {
            good = wrong("the call is wrong");
        }
        if (!good) return 2;
    }
    a->files = argv + optind;
    a->count = argc - optind;
    return check(a) ? -1 : 2;
}

/* ---- learning ---- */

static bool read_text(Lines *lines, const char *path, const Arguments *a, Error *error) {
    if (!text_read_once(lines, path, error)) return false;
    char report[TEXT_REPORT_BYTES];
    bool invalid = text_report_invalid(report, path, lines);
    if (invalid && a->invalid == INVALID_UTF8_REJECT) {
        lines_free(lines);
        return error_set(error, "%s; convert the file with iconv", report);
    }
    if (invalid) fprintf(stderr, "note: %s; what is wrong is read as U+FFFD\n", report);
    if (a->learn.normalization != NORMALIZATION_NONE || a->learn.lowercase) {
        text_report_changes(report, lines, a->learn.normalization, a->learn.lowercase);
        fprintf(stderr, "note: %s: %s\n", path, report);
    }
    return true;
}

static bool learn_from(const Lines *text, int count, const Arguments *a, Error *error) {
    const Lines **texts = memory_alloc((size_t)count, sizeof *texts, "list of texts");
    for (int i = 0; i < count; i++) texts[i] = &text[i];
    double start = clock_seconds();
    Tokenizer *tokenizer = tokenizer_learn(texts, count, &a->learn, error);
    memory_free(texts);
    if (tokenizer == NULL) return false;
    int size = tokenizer_vocab_size(tokenizer);
    fprintf(stderr, "learned %d pieces in %.2f s\n", size, clock_seconds() - start);
    if (size < a->learn.vocab_size && a->learn.type != TOKENIZER_BYTE)
        fprintf(stderr, "note: the text has no more to give; %d pieces were wanted\n", a->learn.vocab_size);
    bool saved = tokenizer_save(tokenizer, a->output, error);
    tokenizer_free(tokenizer);
    return saved;
}

static bool learn(const Arguments *a, Error *error) {
    Lines *text = memory_alloc((size_t)a->count, sizeof *text, "texts");
    bool good = true;
    int read = 0;
    while (good && read < a->count)
        if ((good = read_text(&text[read], a->files[read], a, error))) read++;
    good = good && learn_from(text, read, a, error);
    for (int i = 0; i < read; i++) lines_free(&text[i]);
    memory_free(text);
    return good;
}

/* ---- using ---- */

/* A run has one tokenizer.json, or one for each side. */
static Tokenizer *load(const Arguments *a, Error *error) {
    if (a->model != NULL) return tokenizer_load(a->model, error);
    char *path = run_path(a->files[0], RUN_TOKENIZER);
    char *separate = run_path(a->files[0], a->side == 0 ? RUN_TOKENIZER_SOURCE : RUN_TOKENIZER_TARGET);
    Tokenizer *tokenizer = tokenizer_load(!file_exists(path) && file_exists(separate) ? separate : path, error);
    memory_free(path);
    memory_free(separate);
    return tokenizer;
}

static bool encode_line(TextEncoder *encoder, const Tokenizer *tokenizer, Line line, long number, const Arguments *a,
                        IdList *ids, Error *error) {
    size_t valid = a->invalid == INVALID_UTF8_REJECT ? utf8_valid_length(line.text, line.length) : line.length;
    if (valid < line.length) return error_set(error, "not UTF-8 from byte %zu on; convert it with iconv", valid + 1);
    if (a->dropout > 0)
        tokenizer_encode_dropout(encoder, line.text, line.length, a->dropout,
                                 hash_fold(hash64((uint64_t)a->seed), (uint64_t)number), ids);
    else
        tokenizer_encode(encoder, line.text, line.length, ids);
    id_text_write(stdout, tokenizer, ids, a->form);
    return true;
}

/* A line stays one line: a line feed, which only ids that no text gives can spell, is written as a space. */
static bool decode_line(const Tokenizer *tokenizer, Line line, const Arguments *a, IdList *ids, Error *error) {
    if (!id_text_read(ids, tokenizer, line, a->form, error)) return false;
    size_t length;
    char *text = tokenizer_decode(tokenizer, ids->ids, (int)ids->count, &length);
    for (char *p = text; (p = memchr(p, '\n', length - (size_t)(p - text))) != NULL;) *p = ' ';
    fwrite_unlocked(text, 1, length, stdout);
    memory_free(text);
    return true;
}

static bool use_on_lines(const Tokenizer *tokenizer, const Arguments *a, Error *error) {
    TextEncoder *encoder = text_encoder_new(tokenizer);
    IdList ids = {0};
    LineReader reader;
    Line line;
    bool good = true;
    line_reader_init(&reader, fileno(stdin));
    for (long number = 1; good && !ferror(stdout) && line_reader_next(&reader, &line); number++, ids.count = 0) {
        Error fact = {""};
        good = a->decode ? decode_line(tokenizer, line, a, &ids, &fact)
                         : encode_line(encoder, tokenizer, line, number, a, &ids, &fact);
        if (!good) error_set(error, "standard input:%ld: %s", number, fact.text);
        if (good) putc_unlocked('\n', stdout);
        if (!line_reader_ready(&reader)) fflush(stdout);
    }
    if (reader.failure != 0) good = error_set(error, "reading failed: %s", strerror(reader.failure));
    line_reader_free(&reader);
    id_list_free(&ids);
    text_encoder_free(encoder);
    return good;
}

static bool use(const Arguments *a, Error *error) {
    Tokenizer *tokenizer = load(a, error);
    if (tokenizer == NULL) return false;
    bool good = use_on_lines(tokenizer, a, error);
    tokenizer_free(tokenizer);
    return good;
}

int main(int argc, char **argv) {
    Arguments a = {.seed = 1, .learn = tokenizer_default_options()};
    a.learn.vocab_size = 0;
    int status = parse(&a, argc, argv);
    if (status >= 0) return status;
    Error error = {""};
    bool good = a.train ? learn(&a, &error) : use(&a, &error);
    if (!good) fprintf(stderr, "tokenize: %s\n", error.text);
    if (fflush(stdout) == 0 && !ferror(stdout)) return good ? 0 : 1;
    fprintf(stderr, "tokenize: writing failed: %s; is the disk full?\n", strerror(errno));
    return 1;
}
