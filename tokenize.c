/* ./tokenize RUN < in > out: the tokenizer alone, text to pieces and back; ./tokenize --train learns one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/rng.h"
#include "base/version.h"
#include "data/text_file.h"
#include "run/run_directory.h"
#include "tokenizer/id_text.h"
#include "tokenizer/text_report.h"

typedef struct Arguments {
    bool train, decode, ids, pieces, help, version;
    const char *model, *output;
    char **files; /* [count] the text to learn from, or RUN */
    int count;
    int side; /* 0 source, 1 target */
    double dropout, seed;
    InvalidUtf8 invalid;
    TokenizerOptions learn;
} Arguments;

/* ---- the command line ---- */

/* clang-format off */
#define OPTION(name, value, kind, field, least, most, choices, help) \
    {name, value, OPTION_##kind, offsetof(Arguments, field), least, most, choices, help}
#define FLAG(name, field, help) OPTION(name, NULL, FLAG, field, 0, 0, NULL, help)

/* Options of using a tokenizer, of learning one, and of both. */
enum { USING = 0, LEARNING = 7, BOTH = 13 };
static const Option table[] = {
    FLAG("ids", ids, "numbers instead of pieces"),
    FLAG("pieces", pieces, "pieces (the default)"),
    FLAG("decode", decode, "the other way: lines of pieces, or with --ids of numbers, to text"),
    OPTION("model", "FILE.json", TEXT, model, 0, 0, NULL, "this tokenizer instead of that of a RUN"),
    OPTION("side", "", CHOICE, side, 0, 0, "source|target", "of a RUN with separate vocabularies; default source"),
    OPTION("dropout", "RATE", REAL, dropout, 0, 0.999, NULL, "BPE-dropout: leave out merges with this probability, as training would"),
    OPTION("seed", "N", REAL, seed, 0, 1e15, NULL, "of the dropout; default 1"),

    OPTION("vocab-size", "N", WHOLE, learn.vocab_size, 261, 1e6, NULL, "with --train: entries wanted, the 260 fixed ones included"),
    OPTION("output", "FILE.json", TEXT, output, 0, 0, NULL, "with --train: where to write the tokenizer.json"),
    OPTION("type", "", CHOICE, learn.type, 0, 0, "bpe|word|char|byte", "with --train: default bpe"),
    OPTION("normalization", "", CHOICE, learn.normalization, 0, 0, "none|nfc|nfkc", "with --train: default none, which loses nothing"),
    FLAG("lowercase", learn.lowercase, "with --train: lower-case all text"),
    OPTION("min-frequency", "N", WHOLE, learn.min_frequency, 1, 1e6, NULL, "with --train: what is seen less often gets no entry; default 2"),

    FLAG("train", train, "learn a tokenizer from text files"),
    OPTION("invalid-utf8", "", CHOICE, invalid, 0, 0, "replace|reject", "read bytes that are not UTF-8 as U+FFFD (the default), or stop"),
    FLAG("help", help, "this text"),
    FLAG("version", version, "the version"),
};
/* clang-format on */
enum { OPTIONS = sizeof table / sizeof table[0] };

static void print_help(void) {
    puts("usage: tokenize RUN [options] < in > out\n"
         "       tokenize --model FILE.json [options] < in > out\n"
         "       tokenize --train --vocab-size N --output FILE.json [options] FILES...\n"
         "\n"
         "Splits standard input, line by line, into the pieces of the tokenizer of the run directory RUN, with\n"
         "a space between them. There is one line out for each line in. With --train, learns a tokenizer from\n"
         "text files (plain, .gz or pipes) together, and writes it as a Hugging Face tokenizer.json.\n");
    options_print_help(table, OPTIONS, stdout);
}

static bool wrong(Error *error, const char *fact) { return error_set(error, "%s; see tokenize --help", fact); }

static bool check(const Arguments *a, const bool given[OPTIONS], Error *error) {
    for (int i = a->train ? USING : LEARNING; i < (a->train ? LEARNING : BOTH); i++)
        if (given[i])
            return error_set(error, "--%s is for calls %s --train; see tokenize --help", table[i].name,
                             a->train ? "without" : "with");
    if (a->train && a->output == NULL) return wrong(error, "--output is missing: the file to write");
    if (a->train && a->learn.vocab_size == 0 && a->learn.type != TOKENIZER_BYTE)
        return wrong(error, "--vocab-size is missing");
    if (a->train) return a->count > 0 || wrong(error, "no text file was given");
    if (a->ids && a->pieces) return wrong(error, "give --ids or --pieces, not both");
    if (a->decode && a->dropout > 0) return wrong(error, "--dropout is for encoding, not for --decode");
    if (a->model != NULL) return a->count == 0 || wrong(error, "give a run directory or --model, not both");
    return a->count == 1 || wrong(error, a->count == 0 ? "no run directory was given" : "give one run directory");
}

static bool parse(Arguments *a, int argc, char **argv, Error *error) {
    bool given[OPTIONS] = {false};
    int first;
    *a = (Arguments){.seed = 1, .learn = tokenizer_default_options()};
    a->learn.vocab_size = 0;
    if (!options_parse(a, table, OPTIONS, argc, argv, given, &first, error)) return false;
    a->files = argv + first;
    a->count = argc - first;
    return a->help || a->version || check(a, given, error);
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
    char *place = realpath(a->output, NULL); /* of a link, what it names; NULL where there is nothing yet */
    bool saved = tokenizer_save(tokenizer, place != NULL ? place : a->output, error);
    free(place);
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
    Tokenizer *tokenizer = NULL;
    char *path = run_path(a->files[0], RUN_TOKENIZER);
    char *separate = run_path(a->files[0], a->side == 0 ? RUN_TOKENIZER_SOURCE : RUN_TOKENIZER_TARGET);
    if (file_exists(path) || file_exists(separate))
        tokenizer = tokenizer_load(file_exists(path) ? path : separate, error);
    else
        error_set(error, "%s: there is no such file; name a run directory, or a tokenizer.json with --model", path);
    memory_free(path);
    memory_free(separate);
    return tokenizer;
}

static void encode_line(TextEncoder *encoder, const Tokenizer *tokenizer, Line line, size_t number, const Arguments *a,
                        IdList *ids) {
    if (a->dropout > 0)
        tokenizer_encode_dropout(encoder, line.text, line.length, a->dropout,
                                 hash_fold(hash64((uint64_t)a->seed), (uint64_t)number), ids);
    else
        tokenizer_encode(encoder, line.text, line.length, ids);
    id_text_write(stdout, tokenizer, ids, a->ids ? ID_FORM_NUMBERS : ID_FORM_PIECES);
}

/* A line stays one line: a line feed, which only ids that no text gives can spell, is written as a space. */
static bool decode_line(const Tokenizer *tokenizer, Line line, const Arguments *a, IdList *ids, Error *error) {
    if (!id_text_read(ids, tokenizer, line, a->ids ? ID_FORM_NUMBERS : ID_FORM_PIECES, error)) return false;
    size_t length;
    char *text = tokenizer_decode(tokenizer, ids->ids, (int)ids->count, &length);
    for (char *p = text; (p = memchr(p, '\n', length - (size_t)(p - text))) != NULL;) *p = ' ';
    fwrite_unlocked(text, 1, length, stdout);
    memory_free(text);
    return true;
}

#define INPUT "standard input"

static bool encode_input(LineReader *reader, const Tokenizer *tokenizer, const Arguments *a, Error *error) {
    TextEncoder *encoder = text_encoder_new(tokenizer);
    IdList ids = {0};
    InvalidText invalid = {0};
    Line line;
    char report[TEXT_REPORT_BYTES];
    for (size_t number = 1; !ferror(stdout) && line_reader_next(reader, &line); number++, ids.count = 0) {
        invalid_text_add(&invalid, number, line);
        if (invalid.lines > 0 && a->invalid == INVALID_UTF8_REJECT) break;
        encode_line(encoder, tokenizer, line, number, a, &ids);
        putc_unlocked('\n', stdout);
        if (!line_reader_ready(reader)) fflush(stdout);
    }
    id_list_free(&ids);
    text_encoder_free(encoder);
    if (invalid.lines == 0) return true;
    invalid_text_describe(report, &invalid, INPUT);
    if (a->invalid == INVALID_UTF8_REJECT) return error_set(error, "%s; convert it with iconv", report);
    fprintf(stderr, "note: %s; what is wrong is read as U+FFFD\n", report);
    return true;
}

static bool decode_input(LineReader *reader, const Tokenizer *tokenizer, const Arguments *a, Error *error) {
    IdList ids = {0};
    Line line;
    bool good = true;
    for (size_t number = 1; good && !ferror(stdout) && line_reader_next(reader, &line); number++, ids.count = 0) {
        Error fact;
        good = decode_line(tokenizer, line, a, &ids, &fact);
        if (!good) error_set(error, INPUT ":%zu: %s", number, fact.text);
        if (good) putc_unlocked('\n', stdout);
        if (!line_reader_ready(reader)) fflush(stdout);
    }
    id_list_free(&ids);
    return good;
}

static bool use(const Arguments *a, Error *error) {
    Tokenizer *tokenizer = load(a, error);
    if (tokenizer == NULL) return false;
    LineReader reader;
    line_reader_init(&reader, fileno(stdin));
    bool good = a->decode ? decode_input(&reader, tokenizer, a, error) : encode_input(&reader, tokenizer, a, error);
    if (reader.failure != 0) good = error_set(error, "reading failed: %s", strerror(reader.failure));
    line_reader_free(&reader);
    tokenizer_free(tokenizer);
    return good;
}

static int fail(int status, const Error *error) {
    fprintf(stderr, "tokenize: %s\n", error->text);
    return status;
}

int main(int argc, char **argv) {
    Error error = {""};
    Arguments a;
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, which says so */
    if (!parse(&a, argc, argv, &error)) return fail(2, &error);
    if (a.help) print_help();
    if (a.version) puts("tokenize (Tandem) " TANDEM_VERSION);
    bool good = a.help || a.version || (a.train ? learn(&a, &error) : use(&a, &error));
    int status = options_finish("tokenize");
    return good ? status : fail(1, &error);
}
