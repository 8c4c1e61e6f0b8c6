/* ./inspect RUN --source "...": every gradient and every attention map of a trained model, on one sentence pair. */
#include <signal.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/version.h"
#include "model/matmul.h"
#include "study/inspection_json.h"
#include "study/inspection_page.h"
#include "study/inspection_text.h"

typedef struct Arguments {
    const char *run, *source, *target, *tensor, *html;
    bool json, help, version;
} Arguments;

#define FIELD(name) offsetof(Arguments, name)
static const Option table[] = {
    {"source", "TEXT", OPTION_TEXT, FIELD(source), 0, 0, NULL, "the source sentence"},
    {"target", "TEXT", OPTION_TEXT, FIELD(target), 0, 0, NULL, "its target (default: the model's greedy translation)"},
    {"html", "FILE", OPTION_TEXT, FIELD(html), 0, 0, NULL, "write a page with attention maps, gradient flow, saliency"},
    {"json", NULL, OPTION_FLAG, FIELD(json), 0, 0, NULL, "print everything as JSON"},
    {"tensor", "NAME", OPTION_TEXT, FIELD(tensor), 0, 0, NULL,
     "print the values of one tensor, or of a gradient (NAME.grad)"},
    {"help", NULL, OPTION_FLAG, FIELD(help), 0, 0, NULL, "print this"},
    {"version", NULL, OPTION_FLAG, FIELD(version), 0, 0, NULL, "print the version"},
};
enum { OPTIONS = sizeof table / sizeof *table };

static void print_help(void) {
    puts(
        "usage: inspect RUN --source TEXT [--target TEXT] [OPTION]...\n\n"
        "Runs a trained model forward and backward over one sentence pair. Without further options prints the pieces,\n"
        "the loss of each token, each tensor of both passes in order of computation, and each parameter's gradient.\n"
        "Gradients are those of L = -log p(target | source), without dropout and label smoothing.\n");
    options_print_help(table, OPTIONS, stdout);
}

static bool parse(Arguments *a, int argc, char **argv, Error *error) {
    int first;
    *a = (Arguments){0};
    if (!options_parse(a, table, OPTIONS, argc, argv, NULL, &first, error)) return false;
    if (a->help || a->version) return true;
    if (argc - first != 1) return error_set(error, "give one run directory; see inspect --help");
    if (a->source == NULL) return error_set(error, "give a sentence with --source; see inspect --help");
    if (a->json && a->tensor != NULL) return error_set(error, "--json and --tensor both want stdout; leave out one");
    a->run = argv[first];
    return true;
}

static bool show(const Inspection *in, const Arguments *a, Error *error) {
    char *json = a->json || a->html != NULL ? inspection_json(in, a->run) : NULL;
    bool good = a->html == NULL || inspection_page_write(a->html, json, error);
    if (good && a->html != NULL) fprintf(stderr, "inspect: wrote %s\n", a->html);
    if (good && a->json) puts(json);
    if (good && a->tensor != NULL) good = inspection_print_tensor(stdout, in, a->tensor, error);
    if (good && json == NULL && a->tensor == NULL) inspection_print(stdout, in);
    memory_free(json);
    return good;
}

static bool inspect(const Arguments *a, Error *error) {
    LoadedRun run;
    Inspection in;
    if (!loaded_run_open(&run, a->run, error)) return false;
    bool good = inspection_make(&in, &run, a->source, a->target, error);
    if (good) {
        good = show(&in, a, error);
        inspection_free(&in);
    }
    loaded_run_close(&run);
    return good;
}

int main(int argc, char **argv) {
    Error error = {""};
    Arguments a;
    cpu_flush_denormals();
    if (!parse(&a, argc, argv, &error)) {
        fprintf(stderr, "inspect: %s\n", error.text);
        return 2;
    }
    if (a.help) print_help();
    if (a.version) puts("inspect (Tandem) " TANDEM_VERSION);
    if (a.help || a.version) return options_finish("inspect");
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, which says so */
    matmul_serial_blas();
    if (!inspect(&a, &error)) {
        fprintf(stderr, "inspect: %s\n", error.text);
        return 1;
    }
    return options_finish("inspect");
}
