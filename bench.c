/* ./bench [CONFIG.ini]: how fast this machine trains, as a share of its own matrix products. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "measuring/kernels.h"
#include "measuring/report.h"
#include "measuring/sgemm.h"
#include "measuring/subject.h"

static const char USAGE[] =
    "usage: bench [CONFIG.ini] [--set section.key=value]... [--updates N] [--sentences N]\n"
    "             [--made-up | --length N] [--json]\n"
    "       bench --kernels [--json]\n"
    "\n"
    "Measures training updates of the configured model on its corpus, or, without CONFIG.ini, of the Tiny model "
    "(width\n"
    "128, 4+4 layers) on made-up sentences. Writes no files.\n"
    "\n"
    "  --set section.key=value   overrides a key of the configuration; may be given several times\n"
    "  --threads N               the same as --set train.threads=N\n"
    "  --updates N               updates to measure, after two to warm up (default 20)\n"
    "  --sentences N             sentences to translate, and an eighth of them one by one (default 256; 0: none)\n"
    "  --made-up                 made-up sentences, as long as those of Multi30k, in the configured vocabulary size\n"
    "  --length N                made-up sentences of N tokens on each side\n"
    "  --kernels                 the inner loops alone: nanoseconds an element\n"
    "  --json                    prints one JSON object instead of tables\n"
    "  --help, --version\n";

enum {
    OPTION_SET = 256,
    OPTION_THREADS,
    OPTION_UPDATES,
    OPTION_SENTENCES,
    OPTION_MADE_UP,
    OPTION_LENGTH,
    OPTION_KERNELS,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option OPTIONS[] = {{"set", required_argument, NULL, OPTION_SET},
                                        {"threads", required_argument, NULL, OPTION_THREADS},
                                        {"updates", required_argument, NULL, OPTION_UPDATES},
                                        {"sentences", required_argument, NULL, OPTION_SENTENCES},
                                        {"made-up", no_argument, NULL, OPTION_MADE_UP},
                                        {"length", required_argument, NULL, OPTION_LENGTH},
                                        {"kernels", no_argument, NULL, OPTION_KERNELS},
                                        {"json", no_argument, NULL, OPTION_JSON},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {"version", no_argument, NULL, OPTION_VERSION},
                                        {NULL, 0, NULL, 0}};

enum { MOST_OVERRIDES = 256 };

typedef struct Arguments {
    const char *config;
    const char *overrides[MOST_OVERRIDES]; /* [count] */
    int count, updates, sentences;
    SubjectText text;
    bool kernels, json;
    char threads[64]; /* --threads as an override */
} Arguments;

static bool add_override(Arguments *a, const char *text) {
    if (a->count == MOST_OVERRIDES) {
        fprintf(stderr, "bench: more than %d options --set; put them into the configuration file\n", MOST_OVERRIDES);
        return false;
    }
    a->overrides[a->count++] = text;
    return true;
}

static bool number(int *value, const char *name, const char *text, int least, int most) {
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || n < least || n > most) {
        fprintf(stderr, "bench: --%s \"%s\" is not a whole number from %d to %d\n", name, text, least, most);
        return false;
    }
    *value = (int)n;
    return true;
}

/* -1: go on; otherwise the exit status. */
static int parse(Arguments *a, int argc, char **argv) {
    *a = (Arguments){.updates = 20, .sentences = 256};
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case OPTION_SET:
            if (!add_override(a, optarg)) return 2;
            break;
        case OPTION_THREADS:
            snprintf(a->threads, sizeof a->threads, "train.threads=%s", optarg);
            if (!add_override(a, a->threads)) return 2;
            break;
        case OPTION_UPDATES:
            if (!number(&a->updates, "updates", optarg, 1, 1000000)) return 2;
            break;
        case OPTION_SENTENCES:
            if (!number(&a->sentences, "sentences", optarg, 0, 1000000)) return 2;
            break;
        case OPTION_MADE_UP:
            a->text.made_up = true;
            break;
        case OPTION_LENGTH:
            if (!number(&a->text.length, "length", optarg, 2, 100000)) return 2;
            a->text.made_up = true;
            break;
        case OPTION_KERNELS:
            a->kernels = true;
            break;
        case OPTION_JSON:
            a->json = true;
            break;
        case OPTION_HELP:
            fputs(USAGE, stdout);
            return 0;
        case OPTION_VERSION:
            puts("bench (Tandem) " TANDEM_VERSION);
            return 0;
        default:
            fputs("bench: see bench --help\n", stderr);
            return 2;
        }
    }
    if (argc - optind > 1) {
        fputs("bench: give one configuration file; see bench --help\n", stderr);
        return 2;
    }
    a->config = argv[optind];
    if (a->config == NULL) a->text.made_up = true;
    return -1;
}

static bool load_config(Config *config, const Arguments *a, Error *error) {
    if (a->config == NULL) return subject_standard_config(config, a->overrides, a->count, error);
    return config_load(config, a->config, a->overrides, a->count, error);
}

/* The exit status: figures that nobody can read are a failure. */
static int close_output(void) {
    if (fclose(stdout) == 0) return 0;
    fprintf(stderr, "bench: standard output: writing failed: %s; is the disk full?\n", strerror(errno));
    return 1;
}

int main(int argc, char **argv) {
    Arguments a;
    int status = parse(&a, argc, argv);
    if (status >= 0) return status;
    if (a.kernels) {
        KernelTime times[MOST_KERNELS];
        (a.json ? report_kernels_json : report_kernels_text)(times, kernels_measure(times));
        return close_output();
    }
    Error error = {""};
    Config config;
    Trainer trainer;
    if (!load_config(&config, &a, &error) || !subject_open(&trainer, &config, &a.text, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    int threads = trainer.config.train.threads;
    UpdateTimes updates;
    updates_measure(&updates, &trainer, a.updates); /* before the peaks: their matrices are large */
    DecodeTime decoding[DECODE_ROWS];
    if (a.sentences > 0) decode_measure(decoding, &trainer, a.sentences);
    MachineReport machine = {threads, sgemm_peak(1, SGEMM_PEAK), sgemm_peak(threads, SGEMM_PEAK)};
    (a.json ? report_json : report_text)(&machine, &trainer, &updates, a.sentences > 0 ? decoding : NULL);
    update_times_free(&updates);
    trainer_close(&trainer);
    return close_output();
}
