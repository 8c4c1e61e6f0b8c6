/* ./train CONFIG.ini: trains a model, and goes on with a run that was stopped. */
#include <signal.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/version.h"
#include "training/trainer.h"

typedef struct Arguments {
    OptionList set;
    const char *threads;
    bool fresh, help_config, help, version;
} Arguments;

#define OPTION(name, value, kind, field, help) \
    { name, value, OPTION_##kind, offsetof(Arguments, field), 0, 0, NULL, help }
static const Option table[] = {
    OPTION("set", "section.key=value", LIST, set, "overrides a key of the file; may be given several times"),
    OPTION("threads", "N", TEXT, threads, "the same as --set train.threads=N"),
    OPTION("fresh", NULL, FLAG, fresh, "moves an old run aside and starts over"),
    OPTION("help-config", NULL, FLAG, help_config, "prints every key with its meaning, range and default"),
    OPTION("help", NULL, FLAG, help, "this text"),
    OPTION("version", NULL, FLAG, version, "the version"),
};
enum { OPTIONS = sizeof table / sizeof table[0] };

static void print_help(void) {
    puts("usage: train CONFIG.ini [--set section.key=value]... [--threads N] [--fresh]\n"
         "\n"
         "Trains the model that CONFIG.ini describes and writes everything to its [output] dir. A run that has been\n"
         "stopped goes on by itself. Ctrl-C saves and stops; a second Ctrl-C stops at once.\n");
    options_print_help(table, OPTIONS, stdout);
}

static int wrong_call(const char *fact) {
    fprintf(stderr, "train: %s; see train --help\n", fact);
    return 2;
}

static int finish(Trainer *t, TrainEnd end, const Error *error) {
    static const char *const why[] = {[TRAIN_EPOCHS] = "all epochs done",
                                      [TRAIN_UPDATES] = "all updates done",
                                      [TRAIN_MINUTES] = "time is up",
                                      [TRAIN_PATIENCE] = "no better validation within [valid] patience",
                                      [TRAIN_SIGNAL] = "stopped by a signal; the same command goes on from here"};
    trainer_report(t, end == TRAIN_FAILED ? error->text : why[end], true);
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
    Error error = {""};
    char threads[64];
    int first;
    if (!options_parse(&a, table, OPTIONS, argc, argv, NULL, &first, &error)) {
        fprintf(stderr, "train: %s\n", error.text);
        return 2;
    }
    if (a.help) print_help();
    if (a.help_config) config_print_help(stdout);
    if (a.version) puts("train (Tandem) " TANDEM_VERSION);
    if (a.help || a.help_config || a.version) return options_finish("train");
    if (argc == first) return wrong_call("no configuration file was given");
    if (argc - first > 1) return wrong_call("give one configuration file");
    if (a.threads != NULL) {
        snprintf(threads, sizeof threads, "train.threads=%s", a.threads);
        a.set.text[a.set.count++] = threads;
    }
    Config config;
    Trainer trainer;
    if (!config_load(&config, argv[first], a.set.text, a.set.count, &error) ||
        !trainer_open(&trainer, &config, a.fresh, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    TrainEnd end = trainer_run(&trainer, &error);
    int status = finish(&trainer, end, &error);
    trainer_close(&trainer);
    if (trainer_signal() != 0) { /* so that a script that called us stops too */
        signal(trainer_signal(), SIG_DFL);
        raise(trainer_signal());
    }
    return status;
}
