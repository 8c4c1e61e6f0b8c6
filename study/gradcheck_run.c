#include "study/gradcheck_run.h"

#include <string.h>

#include "base/options.h"
#include "model/matmul.h"
#include "study/demos.h"
#include "study/element_view.h"
#include "study/full_check.h"

static int show_element(CheckedModel *m, const char *text) {
    Error error = {""};
    ElementPlace place;
    if (!element_find(&place, &m->table, text, &error)) {
        fprintf(stderr, "gradcheck: %s\n", error.text);
        return 1;
    }
    element_view(stdout, &m->check, place);
    return options_finish("gradcheck");
}

static void explain_float(void) {
    puts("\nThis was float: 24 bits, eps = 6e-08. A loss of about 1 is known to 1e-7, so a difference of two losses\n"
         "needs a large step (here 1e-2, in double 3e-4) to rise out of the rounding, and then the curve of the loss\n"
         "adds an error of its own. Right gradients look wrong by some per cent, and a gradient that is wrong by one\n"
         "per cent would pass. That is why gradients are proved in double, by the same source compiled again, to a\n"
         "bound of 1e-6. The V of one element shows it: gradcheck --precision float --tensor 'NAME[i,j]'");
}

static size_t samples_of(const GradcheckRequest *r, size_t usual) {
    return r->samples < 0 ? usual : (size_t)r->samples;
}

static int check(CheckedModel *m, const GradcheckRequest *r) {
    const StudyModule *module = r->module == NULL ? NULL : study_module_find(r->module); /* NULL for "model" too */
    GradientTable t = {.out = stdout};
    printf("L is a loss, a the analytic gradient dL/dx, n the numerical one. absolute = |a - n|;\n"
           "relative = |a - n| / (max(|a|, |n|) + G/100), G the largest gradient of the module; up to %.0e passes.\n\n",
           GRADIENT_CHECK_RELATIVE);
    if (r->module == NULL || module != NULL) full_check_modules(&t, module, samples_of(r, MODULE_SAMPLES));
    if (module == NULL) {
        size_t most = samples_of(r, full_check_samples(&m->table));
        puts("");
        full_check_describe(stdout, m, most);
        full_check_model(&t, m, most);
    }
    puts("");
    bool passed = gradient_table_end(&t);
    if (!REAL_IS_DOUBLE) explain_float();
    int finished = options_finish("gradcheck");
    return passed ? finished : 1;
}

int gradcheck_run(const GradcheckRequest *r) {
    CheckedModel m;
    Error error = {""};
    matmul_serial_blas();
    if (r->demo == DEMO_SCALE) {
        demo_scale(stdout);
        return options_finish("gradcheck");
    }
    if (!checked_model_open(&m, &r->model, &error)) {
        fprintf(stderr, "gradcheck: %s\n", error.text);
        return 1;
    }
    int status;
    if (r->tensor != NULL)
        status = show_element(&m, r->tensor);
    else if (r->demo == DEMO_CAUSALITY)
        status = demo_causality(stdout, &m.check) ? options_finish("gradcheck") : 1;
    else
        status = check(&m, r);
    checked_model_close(&m);
    return status;
}
