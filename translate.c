/* ./translate RUN < in > out: one line out for each line in, in order. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/line_reader.h"
#include "base/memory.h"
#include "base/version.h"
#include "decoding/translator.h"
#include "model/matmul.h"
#include "run/loaded_run.h"

static const char USAGE[] =
    "usage: translate RUN [options] < in > out\n"
    "\n"
    "Translates standard input line by line with the model of the run directory RUN. There is one line\n"
    "out for each line in, in order; a blank line gives a blank line.\n"
    "\n"
    "  --input FILE, --output FILE   instead of standard input and output\n"
    "  --beam-size N                 hypotheses kept while searching; 1: greedy; default: the run's\n"
    "  --length-penalty A            the best has the highest log p / length^A; default: the run's\n"
    "  --threads N                   default: the physical cores this process may use\n"
    "  --max-length-factor A         at most A * source tokens + B target tokens; default: the run's\n"
    "  --help, --version\n";

enum {
    OPTION_INPUT = 256,
    OPTION_OUTPUT,
    OPTION_THREADS,
    OPTION_FACTOR,
    OPTION_BEAM,
    OPTION_PENALTY,
    OPTION_HELP,
    OPTION_VERSION
};
enum { WINDOW_LINES = 4096, WINDOW_BYTES = 1 << 22 }; /* read, translated and written together */

static const struct option OPTIONS[] = {{"input", required_argument, NULL, OPTION_INPUT},
                                        {"output", required_argument, NULL, OPTION_OUTPUT},
                                        {"threads", required_argument, NULL, OPTION_THREADS},
                                        {"max-length-factor", required_argument, NULL, OPTION_FACTOR},
                                        {"beam-size", required_argument, NULL, OPTION_BEAM},
                                        {"length-penalty", required_argument, NULL, OPTION_PENALTY},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {"version", no_argument, NULL, OPTION_VERSION},
                                        {NULL, 0, NULL, 0}};

typedef struct Arguments {
    const char *run, *input, *output;
    int threads;
    int beam_size;         /* 0: the run's */
    double factor;         /* 0: the run's */
    double length_penalty; /* below 0: the run's */
} Arguments;

static bool read_number(double *value, const char *text, const char *option, double least, double most) {
    char *end;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value >= least && *value <= most) return true;
    fprintf(stderr, "translate: %s %s: give a number from %g to %g\n", option, text, least, most);
    return false;
}

/* -1: go on; otherwise the exit status. */
static int parse(Arguments *a, int argc, char **argv) {
    double number;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case OPTION_INPUT:
            a->input = optarg;
            break;
        case OPTION_OUTPUT:
            a->output = optarg;
            break;
        case OPTION_THREADS:
            if (!read_number(&number, optarg, "--threads", 1, 1024)) return 2;
            a->threads = (int)number;
            break;
        case OPTION_FACTOR:
            if (!read_number(&a->factor, optarg, "--max-length-factor", 0.1, 100)) return 2;
            break;
        case OPTION_BEAM:
            if (!read_number(&number, optarg, "--beam-size", 1, 1000)) return 2;
            a->beam_size = (int)number;
            break;
        case OPTION_PENALTY:
            if (!read_number(&a->length_penalty, optarg, "--length-penalty", 0, 100)) return 2;
            break;
        case OPTION_HELP:
            fputs(USAGE, stdout);
            return 0;
        case OPTION_VERSION:
            puts("translate (Tandem) " TANDEM_VERSION);
            return 0;
        default:
            fputs("translate: see translate --help\n", stderr);
            return 2;
        }
    }
    if (argc - optind != 1) {
        fprintf(stderr, "translate: %s; see translate --help\n",
                argc == optind ? "no run directory was given" : "give one run directory");
        return 2;
    }
    a->run = argv[optind];
    return -1;
}

/* Lines that are translated together: as many as are there, so that a pipe that waits for an answer gets it. */
typedef struct Window {
    Line line[WINDOW_LINES]; /* copies, from memory_text */
    int count;
} Window;

static bool read_window(Window *w, LineReader *in) {
    size_t bytes = 0;
    Line line;
    w->count = 0;
    while (w->count < WINDOW_LINES && bytes < WINDOW_BYTES) {
        if (w->count > 0 && !line_reader_ready(in)) break;
        if (!line_reader_next(in, &line)) break;
        w->line[w->count++] = (Line){memory_text(line.text, line.length), line.length};
        bytes += line.length;
    }
    return w->count > 0;
}

static void translate_window(const Translator *t, Window *w, long first_line, FILE *out) {
    Translation *translation = memory_alloc((size_t)w->count, sizeof *translation, "translations");
    translator_translate(translation, t, w->line, w->count);
    for (int i = 0; i < w->count; i++) {
        if (translation[i].dropped > 0)
            fprintf(stderr,
                    "translate: line %ld: its last %d of %d tokens were left out; split it to have all translated\n",
                    first_line + i, translation[i].dropped, translation[i].dropped + TRANSLATOR_MOST_TOKENS);
        fputs(translation[i].text, out);
        fputc('\n', out);
        memory_free(translation[i].text);
        memory_free((void *)w->line[i].text);
    }
    fflush(out);
    memory_free(translation);
}

static bool translate_all(const Translator *t, FILE *in, FILE *out) {
    static Window window;
    LineReader reader;
    line_reader_init(&reader, fileno(in));
    for (long line = 1; !ferror(out) && read_window(&window, &reader); line += window.count)
        translate_window(t, &window, line, out);
    if (reader.failure != 0) fprintf(stderr, "translate: reading failed: %s\n", strerror(reader.failure));
    line_reader_free(&reader);
    return reader.failure == 0;
}

/* A .gz would be translated as if its bytes were text. */
static bool is_compressed(FILE *in) {
    unsigned char magic[2];
    return pread(fileno(in), magic, 2, 0) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

/* Opening a file for writing empties it: it must not be the one that is read. */
static bool same_file(FILE *in, const char *output) {
    struct stat a, b;
    return output != NULL && fstat(fileno(in), &a) == 0 && stat(output, &b) == 0 && S_ISREG(b.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static FILE *open_file(const char *path, const char *mode, FILE *standard) {
    if (path == NULL) return standard;
    FILE *file = fopen(path, mode);
    if (file == NULL) fprintf(stderr, "translate: %s: %s\n", path, strerror(errno));
    return file;
}

static bool open_files(FILE **in, FILE **out, const Arguments *a) {
    *in = open_file(a->input, "r", stdin);
    if (*in == NULL) return false;
    if (is_compressed(*in)) {
        fprintf(stderr, "translate: the input is compressed; use gzip -dc FILE.gz | translate %s\n", a->run);
        *out = NULL;
    } else if (same_file(*in, a->output)) {
        fprintf(stderr, "translate: %s is both input and output; give another --output\n", a->output);
        *out = NULL;
    } else {
        *out = open_file(a->output, "w", stdout);
    }
    if (*out == NULL) fclose(*in);
    return *out != NULL;
}

static bool translate_files(const LoadedRun *run, const Arguments *a) {
    FILE *in, *out;
    if (!open_files(&in, &out, a)) return false;
    Translator translator;
    Arena *arena = arenas_new(a->threads, "decoding (give fewer --threads)");
    translator_init(&translator, &run->model, &run->positions, run->source, run->target, &run->config.decode,
                    a->threads, arena);
    bool read = translate_all(&translator, in, out);
    bool failed = ferror(out) != 0, written = fclose(out) == 0 && !failed;
    if (!written) fprintf(stderr, "translate: writing failed: %s; is the disk full?\n", strerror(errno));
    fclose(in);
    translator_free(&translator);
    arenas_free(arena, a->threads);
    return read && written;
}

int main(int argc, char **argv) {
    Arguments a = {.threads = cpu_cores(), .length_penalty = -1};
    int status = parse(&a, argc, argv);
    if (status >= 0) return status;
    matmul_serial_blas();
    Error error = {""};
    LoadedRun run;
    if (!loaded_run_open(&run, a.run, &error)) {
        fprintf(stderr, "translate: %s\n", error.text);
        return 1;
    }
    if (a.factor > 0) run.config.decode.max_length_factor = a.factor;
    if (a.beam_size > 0) run.config.decode.beam_size = a.beam_size;
    if (a.length_penalty >= 0) run.config.decode.length_penalty = a.length_penalty;
    bool good = translate_files(&run, &a);
    loaded_run_close(&run);
    return good ? 0 : 1;
}
