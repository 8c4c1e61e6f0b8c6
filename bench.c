/* ./bench [CONFIG.ini]: how fast this machine trains, as a share of its own matrix products. */
#include <stdio.h>

#include "base/cpu.h"
#include "base/options.h"
#include "base/version.h"
#include "measuring/report.h"
#include "measuring/sgemm.h"
#include "measuring/subject.h"

typedef struct Arguments {
    OptionList set;
    const char *config, *threads;
    int updates, sentences;
    SubjectText text;
    bool kernels, attention, json, help, version;
} Arguments;

/* clang-format off */
#define OPTION(name, value, kind, field, least, most, help) \
    {name, value, OPTION_##kind, offsetof(Arguments, field), least, most, NULL, help}
#define FLAG(name, field, help) OPTION(name, NULL, FLAG, field, 0, 0, help)
static const Option table[] = {
    OPTION("set", "section.key=value", LIST, set, 0, 0, "overrides a key of the configuration; may be given several times"),
    OPTION("threads", "N", TEXT, threads, 0, 0, "the same as --set train.threads=N"),
    OPTION("updates", "N", WHOLE, updates, 1, 1e6, "updates to measure, after two to warm up (default 20)"),
    OPTION("sentences", "N", WHOLE, sentences, 0, 1e6, "sentences to translate, and an eighth of them one by one (default 256; 0: none)"),
    FLAG("made-up", text.made_up, "made-up sentences, as long as those of Multi30k, in the configured vocabulary size"),
    OPTION("length", "N", WHOLE, text.length, 2, 1e5, "made-up sentences of N tokens on each side"),
    FLAG("kernels", kernels, "the inner loops alone: nanoseconds an element"),
    FLAG("attention", attention, "self- and cross-attention alone: time against the numbers of queries and keys"),
    FLAG("json", json, "prints one JSON object instead of tables"),
    FLAG("help", help, "this text"),
    FLAG("version", version, "the version"),
};
/* clang-format on */
enum { OPTIONS = sizeof table / sizeof table[0] };

static void print_help(void) {
    puts("usage: bench [CONFIG.ini] [--set section.key=value]... [--updates N] [--sentences N]\n"
         "             [--made-up | --length N] [--json]\n"
         "       bench --kernels | --attention [--json]\n"
         "\n"
         "Measures training updates of the configured model on its corpus, or, without CONFIG.ini, of the Tiny model "
         "(width\n"
         "128, 4+4 layers) on made-up sentences; then translation. Writes no files.\n");
    options_print_help(table, OPTIONS, stdout);
}

/* False: a wrong call, which has been said. */
static bool parse(Arguments *a, char threads[64], int argc, char **argv) {
    Error error = {""};
    int first;
    *a = (Arguments){.updates = 20, .sentences = 256};
    bool good = options_parse(a, table, OPTIONS, argc, argv, NULL, &first, &error);
    if (good && argc - first > 1) good = error_set(&error, "give one configuration file; see bench --help");
    if (good && a->kernels && a->attention) good = error_set(&error, "--kernels and --attention: give one of them");
    if (!good) {
        fprintf(stderr, "bench: %s\n", error.text);
        return false;
    }
    if (a->threads != NULL) {
        snprintf(threads, 64, "train.threads=%s", a->threads);
        a->set.text[a->set.count++] = threads;
    }
    a->config = argv[first]; /* NULL where there is none */
    a->text.made_up = a->text.made_up || a->text.length > 0 || a->config == NULL;
    return true;
}

static bool load_config(Config *config, const Arguments *a, Error *error) {
    if (a->config == NULL) return subject_standard_config(config, a->set.text, a->set.count, error);
    return config_load(config, a->config, a->set.text, a->set.count, error);
}

int main(int argc, char **argv) {
    Arguments a;
    char threads_key[64];
    cpu_flush_denormals();
    if (!parse(&a, threads_key, argc, argv)) return 2;
    if (a.help) print_help();
    if (a.version) puts("bench (Tandem) " TANDEM_VERSION);
    if (a.help || a.version) return options_finish("bench");
    if (a.kernels) {
        KernelTime times[MOST_KERNELS];
        (a.json ? report_kernels_json : report_kernels_text)(times, kernels_measure(times));
        return options_finish("bench");
    }
    if (a.attention) {
        AttentionCost costs[MOST_COSTS];
        (a.json ? report_attention_json : report_attention_text)(costs, attention_cost_measure(costs));
        return options_finish("bench");
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
    return options_finish("bench");
}
