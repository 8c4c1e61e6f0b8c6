#include "study/gradient_table.h"

#include <string.h>

enum { MOST_SKIPPED = 50 }; /* one in so many */

void gradient_tensor_shape(char text[48], const GradientTensor *t) {
    if (t->rows > 0)
        snprintf(text, 48, "[%d,%d]", t->rows, t->cols);
    else
        snprintf(text, 48, "[%zu]", t->count);
}

void gradient_tensor_place(char text[48], const GradientTensor *t, size_t index) {
    if (t->rows > 0)
        snprintf(text, 48, "[%zu,%zu]", index / (size_t)t->cols, index % (size_t)t->cols);
    else
        snprintf(text, 48, "[%zu]", index);
}

void gradient_table_begin(GradientTable *t, int module_width, int tensor_width) {
    t->module_width = module_width;
    t->tensor_width = tensor_width;
    fprintf(t->out, "%-*s  %-*s  %-12s %7s  %8s  %8s  verdict\n", module_width, "module", tensor_width, "tensor",
            "shape", "checked", "absolute", "relative");
}

static void add(GradientTable *t, const char *module, int tensors, const char *place, const GradientResult *r) {
    if (r->name != NULL && (t->sum.name == NULL || !(r->worst <= t->sum.worst)))
        snprintf(t->worst, sizeof t->worst, "%s: %s%s", module, r->name, place);
    gradient_result_add(&t->sum, r);
    t->tensors += tensors;
}

static void print_row(const GradientTable *t, const char *module, const char *tensor, const char *shape,
                      const GradientResult *r) {
    fprintf(t->out, "%-*s  %-*s  %-12s %7zu  %8.1e  %8.1e  %s", t->module_width, module, t->tensor_width, tensor, shape,
            r->checked, r->absolute, r->worst, gradient_check_passed(r) ? "ok" : "FAILED");
    if (r->skipped > 0) fprintf(t->out, ", %zu skipped", r->skipped);
}

static void explain(const GradientTable *t, const GradientTensor *tensor, const char *place, const GradientResult *r) {
    if (r->failed > 0)
        fprintf(t->out, "    %zu of %zu differ, most %s: analytic %.9g, numerical %.9g\n", r->failed, r->checked, place,
                r->analytic, r->numeric);
    else if (r->checked == 0)
        fprintf(t->out, "    every element was skipped: relus change sides; check at other weights or text\n");
    else if (tensor->zero != NULL)
        fprintf(t->out, "    not zero, which it is by theory: it %s\n", tensor->zero);
    else
        fprintf(t->out, "    all zero\n");
}

void gradient_table_row(GradientTable *t, const char *module, const GradientTensor *tensor, const GradientResult *r) {
    char shape[48], place[48];
    gradient_tensor_shape(shape, tensor);
    gradient_tensor_place(place, tensor, r->index);
    print_row(t, module, tensor->name, shape, r);
    bool passed = gradient_check_passed(r);
    fprintf(t->out, "%s%s\n", passed && tensor->zero ? ", zero: " : "", passed && tensor->zero ? tensor->zero : "");
    if (!passed) explain(t, tensor, place, r);
    add(t, module, 1, place, r);
    t->failed += !passed;
    fflush(t->out);
}

void gradient_table_fold(GradientTable *t, const char *module, int tensors, const GradientResult *sum) {
    char count[32], place[32];
    snprintf(count, sizeof count, "(all %d)", tensors);
    snprintf(place, sizeof place, "[%zu]", sum->index);
    print_row(t, module, count, "", sum);
    fputs("\n", t->out);
    add(t, module, tensors, place, sum);
}

bool gradient_table_end(GradientTable *t) {
    const GradientResult *s = &t->sum;
    bool many = s->skipped * MOST_SKIPPED > s->checked + s->skipped;
    if (t->failed > 0)
        fprintf(t->out, "FAILED: %d of %d tensors, %zu of %zu elements", t->failed, t->tensors, s->failed, s->checked);
    else
        fprintf(t->out, "%s: %zu elements of %d tensors", many ? "FAILED" : "passed", s->checked, t->tensors);
    fprintf(t->out, "; worst relative error %.1e, %s", s->worst, t->worst);
    if (s->retried > 0) fprintf(t->out, "; %zu with smaller steps", s->retried);
    if (s->skipped > 0) fprintf(t->out, "; %zu skipped at kinks of relu%s", s->skipped, many ? ", more than 2%" : "");
    fputs("\n", t->out);
    return t->failed == 0 && !many;
}
