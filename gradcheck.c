/* ./gradcheck [CONFIG.ini | RUN]: analytic against numerical gradients, of all modules and the whole model.
 *
 * The program holds itself twice: all of it in double, where gradients are proved, and in float, for --precision float. */
#include <stdio.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/options.h"
#include "base/version.h"
#include "study/gradcheck_run.h"
#include "study/modules.h"

typedef enum Precision { PRECISION_DOUBLE, PRECISION_FLOAT } Precision;

typedef struct Arguments {
    GradcheckRequest request;
    Precision precision;
    bool help, version;
} Arguments;

/* clang-format off */
#define OPTION(name, value, kind, field, least, most, choices, help) \
    {name, value, OPTION_##kind, offsetof(Arguments, field), least, most, choices, help}
#define FLAG(name, field, help) OPTION(name, NULL, FLAG, field, 0, 0, NULL, help)
#define TEXT(name, value, field, help) OPTION(name, value, TEXT, field, 0, 0, NULL, help)
static const Option table[] = {
    TEXT("module", "NAME", request.module, "this module alone, a row for every tensor; `model` is the whole model"),
    TEXT("tensor", "NAME[i,j]", request.tensor, "one element of the model in full: parts, steps, the V of the errors"),
    FLAG("reduce", request.model.reduce, "lowers the configured sizes to what is checked in seconds, with the same structure"),
    OPTION("samples", "N", WHOLE, request.samples, 0, 1e9, NULL, "elements to check of each tensor (0: all; default 64, of a large model 8)"),
    TEXT("source", "TEXT", request.model.source, "with a RUN: check on this sentence ..."),
    TEXT("target", "TEXT", request.model.target, "... and its translation (default: from the run's validation corpus)"),
    OPTION("set", "section.key=value", LIST, request.model.set, 0, 0, NULL, "overrides a key of the configuration; may be given several times"),
    OPTION("precision", "", CHOICE, precision, 0, 0, "double|float", "the same in float, to see what a float can show"),
    OPTION("demo", "", CHOICE, request.demo, 0, 0, "scale|causality", "why 1/sqrt(d_k); what a later token changes"),
    FLAG("help", help, "this text"),
    FLAG("version", version, "the version"),
};
/* clang-format on */
enum { OPTIONS = sizeof table / sizeof table[0] };

static void print_help(void) {
    puts("usage: gradcheck [CONFIG.ini | RUN] [--reduce] [--samples N] [--module NAME]\n"
         "       gradcheck [CONFIG.ini | RUN] --tensor NAME[i,j] | --demo NAME\n"
         "\n"
         "Compares every gradient with central differences: each module alone, then the whole model.\n"
         "Exit 1 if any differs.\n");
    options_print_help(table, OPTIONS, stdout);
    puts("\nModules:");
    for (int i = 0; i < STUDY_MODULES; i++) printf("  %-24s %s\n", study_modules[i].name, study_modules[i].formula);
    puts("  model                    all of it\n"
         "\n"
         "Examples:\n"
         "  gradcheck                                        all modules and a small model\n"
         "  gradcheck configs/tiny_translate.ini --reduce    the structure of this configuration\n"
         "  gradcheck runs/tiny --module model               at trained weights, on the run's validation sentences\n"
         "  gradcheck --module cross-attention               one module, tensor by tensor\n"
         "  gradcheck --tensor 'model.shared.weight[7,3]'    one element, and the V of the errors\n"
         "  gradcheck --demo scale                           why attention divides by sqrt(d_k)");
}

static bool check_module(const char *name, Error *error) {
    if (name == NULL || strcmp(name, "model") == 0 || study_module_find(name) != NULL) return true;
    const char *nearest = "model";
    for (int i = 0; i < STUDY_MODULES; i++)
        if (edit_distance(name, study_modules[i].name) < edit_distance(name, nearest)) nearest = study_modules[i].name;
    return error_set(error, "--module %s: there is no such module; did you mean %s? gradcheck --help lists all", name,
                     nearest);
}

static bool parse(Arguments *a, int argc, char **argv, Error *error) {
    int first;
    *a = (Arguments){.request = {.samples = -1, .demo = DEMO_NONE}};
    if (!options_parse(a, table, OPTIONS, argc, argv, NULL, &first, error)) return false;
    GradcheckRequest *r = &a->request;
    r->model.path = argv[first]; /* NULL where there is none */
    if (argc - first > 1) return error_set(error, "give one configuration or run; see gradcheck --help");
    if ((r->module != NULL) + (r->tensor != NULL) + (r->demo != DEMO_NONE) > 1)
        return error_set(error, "--module, --tensor and --demo: give one of them");
    return check_module(r->module, error);
}

int main(int argc, char **argv) {
    Arguments a;
    Error error = {""};
    if (!parse(&a, argc, argv, &error)) {
        fprintf(stderr, "gradcheck: %s\n", error.text);
        return 2;
    }
    if (a.help) print_help();
    if (a.version) puts("gradcheck (Tandem) " TANDEM_VERSION);
    if (a.help || a.version) return options_finish("gradcheck");
    return a.precision == PRECISION_FLOAT ? gradcheck_run_in_float(&a.request) : gradcheck_run(&a.request);
}
