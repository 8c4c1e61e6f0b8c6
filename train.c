/* ./train CONFIG.ini: trains a model, and goes on with a run that was stopped. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/version.h"
#include "training/trainer.h"

static const char USAGE[] =
    "usage: train CONFIG.ini [--set section.key=value]... [--threads N] [--fresh]\n"
    "\n"
    "Trains the model that CONFIG.ini describes and writes everything to its [output] dir. A run that has been\n"
    "stopped goes on by itself. Ctrl-C saves and stops; a second Ctrl-C stops at once.\n"
    "\n"
    "  --set section.key=value   overrides a key of the file; may be given several times\n"
    "  --threads N               the same as --set train.threads=N\n"
    "  --fresh                   moves an old run aside and starts over\n"
    "  --help-config             prints every key with its meaning, range and default\n"
    "  --help, --version\n";

enum { OPTION_SET = 256, OPTION_THREADS, OPTION_FRESH, OPTION_HELP, OPTION_HELP_CONFIG, OPTION_VERSION };

static const struct option OPTIONS[] = {{"set", required_argument, NULL, OPTION_SET},
                                        {"threads", required_argument, NULL, OPTION_THREADS},
                                        {"fresh", no_argument, NULL, OPTION_FRESH},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {"help-config", no_argument, NULL, OPTION_HELP_CONFIG},
                                        {"version", no_argument, NULL, OPTION_VERSION},
                                        {NULL, 0, NULL, 0}};

enum { MOST_OVERRIDES = 256 };

typedef struct Arguments {
    const char *config;
    const char *overrides[MOST_OVERRIDES]; /* [count] */
    int count;
    bool fresh;
    char threads[64]; /* --threads as an override */
} Arguments;

static bool add_override(Arguments *a, const char *text) {
    if (a->count == MOST_OVERRIDES) {
        fprintf(stderr, "train: more than %d options --set; put them into the configuration file\n", MOST_OVERRIDES);
        return false;
    }
    a->overrides[a->count++] = text;
    return true;
}

/* -1: go on; otherwise the exit status. */
static int parse(Arguments *a, int argc, char **argv) {
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case OPTION_SET:
            if (!add_override(a, optarg)) return 2;
            break;
        case OPTION_THREADS:
            snprintf(a->threads, sizeof a->threads, "train.threads=%s", optarg);
            if (!add_override(a, a->threads)) return 2;
            break;
        case OPTION_FRESH:
            a->fresh = true;
            break;
        case OPTION_HELP:
            fputs(USAGE, stdout);
            return options_finish("train");
        case OPTION_HELP_CONFIG:
            config_print_help(stdout);
            return options_finish("train");
        case OPTION_VERSION:
            puts("train (Tandem) " TANDEM_VERSION);
            return options_finish("train");
        default:
            fputs("train: see train --help\n", stderr);
            return 2;
        }
    }
    if (argc - optind != 1) {
        fprintf(stderr, "train: %s; see train --help\n",
                argc == optind ? "no configuration file was given" : "give one configuration file");
        return 2;
    }
    a->config = argv[optind];
    return -1;
}

static int finish(Trainer *t, TrainEnd end, const Error *error) {
    static const char *const why[] = {[TRAIN_EPOCHS] = "all epochs done",
                                      [TRAIN_UPDATES] = "all updates done",
                                      [TRAIN_MINUTES] = "time is up",
                                      [TRAIN_PATIENCE] = "no better validation within [valid] patience",
                                      [TRAIN_SIGNAL] = "stopped by a signal; the same command goes on from here"};
    if (end == TRAIN_FAILED) {
        log_line(&t->log, "%s", error->text);
        return 1;
    }
    log_line(&t->log, "finished   %s: update %lld, %s; peak memory %.0f MB", why[end], (long long)t->state.update,
             t->run.path, memory_peak_mb());
    return 0;
}

int main(int argc, char **argv) {
    Arguments a = {0};
    int status = parse(&a, argc, argv);
    if (status >= 0) return status;
    Error error = {""};
    Config config;
    Trainer trainer;
    if (!config_load(&config, a.config, a.overrides, a.count, &error) ||
        !trainer_open(&trainer, &config, a.fresh, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    TrainEnd end = trainer_run(&trainer, &error);
    status = finish(&trainer, end, &error);
    trainer_close(&trainer);
    if (trainer_signal() != 0) { /* so that a script that called us stops too */
        signal(trainer_signal(), SIG_DFL);
        raise(trainer_signal());
    }
    return status;
}
