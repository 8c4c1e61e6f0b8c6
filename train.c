/* ./train CONFIG.ini: trains a model, and goes on with a run that was stopped. */
#include <signal.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/options.h"
#include "base/version.h"
#include "training/dry_run.h"
#include "training/messages.h"
#include "training/signals.h"

typedef struct Arguments {
    OptionList set;
    const char *threads;
    bool fresh, dry_run, quiet, help_config, help, version;
} Arguments;

#define OPTION(name, value, kind, field, help) \
    { name, value, OPTION_##kind, offsetof(Arguments, field), 0, 0, NULL, help }
static const Option table[] = {
    OPTION("set", "section.key=value", LIST, set, "overrides a key of the file; may be given several times"),
    OPTION("threads", "N", TEXT, threads, "the same as --set train.threads=N"),
    OPTION("fresh", NULL, FLAG, fresh, "moves an old run aside and starts over"),
    OPTION("dry-run", NULL, FLAG, dry_run, "prints configuration, parameters and learning rates, and writes nothing"),
    OPTION("quiet", NULL, FLAG, quiet, "prints errors alone; train.log in the run's folder has the rest"),
    OPTION("help-config", NULL, FLAG, help_config, "prints every key with its meaning, range and default"),
    OPTION("help", NULL, FLAG, help, "this text"),
    OPTION("version", NULL, FLAG, version, "the version"),
};
enum { OPTIONS = sizeof table / sizeof table[0] };

static void print_help(void) {
    puts("usage: train CONFIG.ini [--set section.key=value]... [--threads N] [--fresh] [--dry-run] [--quiet]\n"
         "\n"
         "Trains the model that CONFIG.ini describes and writes everything to its [output] dir. A run that has been\n"
         "stopped goes on by itself. Ctrl-C saves and stops; a second Ctrl-C stops at once.\n");
    options_print_help(table, OPTIONS, stdout);
}

static int wrong_call(const char *fact) {
    fprintf(stderr, "train: %s; see train --help\n", fact);
    return 2;
}

int main(int argc, char **argv) {
    Arguments a = {0};
    Error error = {""};
    char threads[64];
    int first;
    cpu_flush_denormals();
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
    if (a.quiet) log_quiet();
    if (a.threads != NULL) {
        snprintf(threads, sizeof threads, "train.threads=%s", a.threads);
        a.set.text[a.set.count++] = threads;
    }
    Config config;
    Trainer trainer;
    bool good = config_load(&config, argv[first], a.set.text, a.set.count, &error);
    if (good)
        good = a.dry_run ? dry_run(&config, a.fresh, stdout, &error) : trainer_open(&trainer, &config, a.fresh, &error);
    if (!good) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    if (a.dry_run) return options_finish("train");
    TrainEnd end = trainer_run(&trainer, &error);
    if (end == TRAIN_FAILED)
        messages_failed(&trainer, &error);
    else
        messages_end(&trainer, end, argv[0]);
    trainer_close(&trainer);
    if (signals_caught() != 0) { /* so that a script that called us stops too */
        signal(signals_caught(), SIG_DFL);
        raise(signals_caught());
    }
    return end == TRAIN_FAILED ? 1 : 0;
}
