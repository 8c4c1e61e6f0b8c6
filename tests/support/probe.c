#include "tests/support/probe.h"

#include <stdio.h>

static void report(void *context, const ProbeReport *r) {
    bool *passed = context;
    printf("  %-44s %5zu elements, worst %.1e (%s[%zu])", r->name, r->sum.checked, r->sum.worst, r->sum.name,
           r->sum.index);
    if (r->sum.retried > 0) printf(", %zu with smaller steps", r->sum.retried);
    printf("\n");
    for (int t = 0; t < r->tensors; t++) {
        const GradientResult *each = &r->each[t];
        if (gradient_check_passed(each)) continue;
        printf("    %s: %zu of %zu wrong, worst %.1e: [%zu] analytic %.12g, numerical %.12g%s\n", r->tensor[t].name,
               each->failed, each->checked, each->worst, each->index, each->analytic, each->numeric,
               each->zero_wrong ? "; zero or not against theory" : "");
    }
    *passed = *passed && gradient_check_passed(&r->sum);
}

void assert_module(const char *name) {
    const StudyModule *module = study_module_find(name);
    assert_non_null(module);
    bool passed = true;
    module->check(&(ProbeVisitor){.visit = report, .context = &passed});
    assert_true(passed);
}

double relative_difference(const real *a, const real *b, size_t count) {
    double difference = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        double d = fabs((double)a[i] - (double)b[i]), size = fabs((double)b[i]);
        if (d != d || size != size) return (double)NAN;
        if (d > difference) difference = d;
        if (size > largest) largest = size;
    }
    return largest > 0 ? difference / largest : difference;
}

void assert_near_at(double a, double b, double tolerance, const char *file, int line) {
    double difference = fabs(a - b), size = fabs(b) > fabs(a) ? fabs(b) : fabs(a);
    if (difference == 0 || difference <= tolerance * size) return;
    print_error("%.17g is not near %.17g: relative difference %.2e > %.1e\n", a, b, difference / size, tolerance);
    _fail(file, line);
}

void assert_below_at(double value, double limit, const char *file, int line) {
    if (value <= limit) return;
    print_error("%.6g is not below %.6g\n", value, limit);
    _fail(file, line);
}
