/* ./translate RUN < in > out: one line out for each line in, in order. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
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
    "  --threads N                   default: the physical cores this process may use\n"
    "  --max-length-factor A         at most A * source tokens + B target tokens; default: the run's\n"
    "  --help, --version\n";

enum { OPTION_INPUT = 256, OPTION_OUTPUT, OPTION_THREADS, OPTION_FACTOR, OPTION_HELP, OPTION_VERSION };
enum { WINDOW_LINES = 4096, WINDOW_BYTES = 1 << 22 }; /* read, translated and written together */

static const struct option OPTIONS[] = {{"input", required_argument, NULL, OPTION_INPUT},
                                        {"output", required_argument, NULL, OPTION_OUTPUT},
                                        {"threads", required_argument, NULL, OPTION_THREADS},
                                        {"max-length-factor", required_argument, NULL, OPTION_FACTOR},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {"version", no_argument, NULL, OPTION_VERSION},
                                        {NULL, 0, NULL, 0}};

typedef struct Arguments {
    const char *run, *input, *output;
    int threads;
    double factor; /* 0: the run's */
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

/* Lines as they come: a window of a file, a single line of a terminal. */
typedef struct Window {
    char *text[WINDOW_LINES];
    Line line[WINDOW_LINES];
    int count;
} Window;

static bool read_window(Window *w, FILE *in, int most) {
    size_t bytes = 0;
    w->count = 0;
    while (w->count < most && bytes < WINDOW_BYTES) {
        char *text = NULL;
        size_t capacity = 0;
        ssize_t length = getline(&text, &capacity, in);
        if (length < 0) {
            free(text);
            break;
        }
        bytes += (size_t)length;
        if (length > 0 && text[length - 1] == '\n') length--;
        if (length > 0 && text[length - 1] == '\r') length--;
        w->text[w->count] = text;
        w->line[w->count++] = (Line){text, (size_t)length};
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
        free(w->text[i]);
    }
    fflush(out);
    memory_free(translation);
}

static bool translate_all(const Translator *t, FILE *in, FILE *out) {
    static Window window;
    bool terminal = isatty(fileno(in)) == 1;
    for (long line = 1; !ferror(out) && read_window(&window, in, terminal ? 1 : WINDOW_LINES); line += window.count)
        translate_window(t, &window, line, out);
    if (ferror(in)) fprintf(stderr, "translate: reading failed: %s\n", strerror(errno));
    return !ferror(in);
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
    if (same_file(*in, a->output)) {
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
    Arguments a = {.threads = cpu_cores()};
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
    bool good = translate_files(&run, &a);
    loaded_run_close(&run);
    return good ? 0 : 1;
}
