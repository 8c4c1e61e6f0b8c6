#include "study/element_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/memory.h"
#include "study/contributions.h"

static int nearest_name(const ParamTable *table, const char *name) {
    int found = 0;
    for (int i = 1; i < table->count; i++)
        if (edit_distance(name, table->param[i].name) < edit_distance(name, table->param[found].name)) found = i;
    return found;
}

static bool read_index(long *index, const char **text, char end) {
    char *stop;
    *index = strtol(*text, &stop, 10);
    bool good = stop != *text && *stop == end && *index >= 0;
    *text = stop + 1;
    return good;
}

bool element_find(ElementPlace *place, const ParamTable *table, const char *text, Error *error) {
    char name[sizeof table->param[0].name];
    const char *bracket = strchr(text, '[');
    size_t length = bracket ? (size_t)(bracket - text) : strlen(text);
    if (length >= sizeof name) return error_set(error, "--tensor %s: no tensor has such a long name", text);
    memcpy(name, text, length);
    name[length] = '\0';
    int i = param_find(table, name);
    if (i < 0)
        return error_set(error, "--tensor %s: no tensor of this name; did you mean %s?", name,
                         table->param[nearest_name(table, name)].name);
    const Param *p = &table->param[i];
    long row = 0, col = 0;
    const char *at = bracket ? bracket + 1 : "";
    bool good = p->rank == 1 ? read_index(&col, &at, ']') : read_index(&row, &at, ',') && read_index(&col, &at, ']');
    if (!good || *at != '\0' || row >= p->rows || col >= p->cols)
        return p->rank == 1
                   ? error_set(error, "--tensor %s: give an element from %s[0] to [%d]", text, name, p->cols - 1)
                   : error_set(error, "--tensor %s: give an element from %s[0,0] to [%d,%d]", text, name, p->rows - 1,
                               p->cols - 1);
    *place = (ElementPlace){i, (size_t)row * (size_t)p->cols + (size_t)col};
    return true;
}

void element_differences(StepErrors *e, const GradientCheck *check, real *value) {
    for (int i = 0; i < ELEMENT_STEPS; i++) {
        e->h[i] = pow(10, -2 - i / 2.0);
        e->two_point[i] = gradient_two_point(check, value, e->h[i]);
        e->five_point[i] = gradient_five_point(check, value, e->h[i]);
        e->kink[i] = gradient_has_kink(check, value, 2 * e->h[i]);
    }
}

int element_best_step(const StepErrors *e, double analytic) {
    int best = 0;
    for (int i = 1; i < ELEMENT_STEPS; i++)
        if (fabs(e->two_point[i] - analytic) < fabs(e->two_point[best] - analytic)) best = i;
    return best;
}

static void print_contributions(FILE *out, const ModelCheck *c, ElementPlace place) {
    Contribution use[EMBEDDING_SITES];
    int uses = contributions_by_use(use, c, place.param, place.index), sentences = c->batch->source.sentences;
    if (uses > 0) fputs("  one matrix, several uses; each adds its part:\n", out);
    for (int i = 0; i < uses; i++) fprintf(out, "    %-18s %24.16e\n", use[i].name, use[i].value);
    if (sentences == 1) return;
    double *value = memory_alloc((size_t)sentences, sizeof *value, "contributions");
    contributions_by_sentence(value, c, place.param, place.index);
    fputs("  by sentence:\n", out);
    for (int s = 0; s < sentences; s++)
        fprintf(out, "    %2d: %3d source, %3d target tokens %14s%24.16e\n", s + 1, packed_length(&c->batch->source, s),
                packed_length(&c->batch->target, s), "", value[s]);
    memory_free(value);
}

static void print_differences(FILE *out, const StepErrors *e, double analytic) {
    int best = element_best_step(e, analytic);
    fputs("\nCentral differences, and how far they are from the analytic value:\n"
          "        h   (L(x+h) - L(x-h)) / 2h     error   five-point stencil         error\n",
          out);
    for (int i = 0; i < ELEMENT_STEPS; i++)
        fprintf(out, "  %7.1e  %24.16e  %8.1e  %24.16e  %8.1e%s%s\n", e->h[i], e->two_point[i],
                fabs(e->two_point[i] - analytic), e->five_point[i], fabs(e->five_point[i] - analytic),
                e->kink[i] ? "  kink" : "", i == best ? "  <- best h of two points" : "");
}

enum { LOWEST_DECADE = -16 };

/* The row of the plot that a numerical gradient falls into. */
static int decade(double numeric, double analytic) {
    double error = fabs(numeric - analytic);
    int exponent = error > 0 ? (int)floor(log10(error)) : LOWEST_DECADE;
    return exponent < LOWEST_DECADE ? LOWEST_DECADE : exponent;
}

/* log10 of the errors against log10 of h. */
static void plot(FILE *out, const StepErrors *e, double analytic) {
    int two[ELEMENT_STEPS], five[ELEMENT_STEPS], highest = LOWEST_DECADE, lowest = 0;
    for (int i = 0; i < ELEMENT_STEPS; i++) {
        two[i] = decade(e->two_point[i], analytic);
        five[i] = decade(e->five_point[i], analytic);
        int more = two[i] > five[i] ? two[i] : five[i], less = two[i] + five[i] - more;
        highest = more > highest ? more : highest;
        lowest = less < lowest ? less : lowest;
    }
    fputs("\n  error        * two points   o five points   @ both\n", out);
    for (int row = highest; row >= lowest; row--) {
        fprintf(out, "  1e%+03d |", row);
        for (int i = ELEMENT_STEPS - 1; i >= 0; i--)
            fprintf(out, "  %c", two[i] == row ? (five[i] == row ? '@' : '*') : five[i] == row ? 'o' : ' ');
        fputs("\n", out);
    }
    fputs("        +---------------------------------------------------  h\n"
          "          1e-10                  1e-6                    1e-2\n",
          out);
}

static void print_reason(FILE *out, const StepErrors *e) {
    double eps = REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24;
    fprintf(out,
            "\nThe curve is a V. On the right the Taylor series is cut off too early: the error of two points\n"
            "is h^2 L'''/6, two decades for each decade of h (five points: h^4, four decades). On the left\n"
            "L(x+h) and L(x-h) agree in nearly all digits, and what is left is their rounding: eps |L| / h,\n"
            "with eps = %.1e in %s. The best h balances the two: about the cube root of eps, %.0e (five\n"
            "points: its fifth root, %.0e).\n",
            eps, REAL_IS_DOUBLE ? "double" : "float", cbrt(eps), pow(eps, 0.2));
    if (!REAL_IS_DOUBLE)
        fputs("Steps below the last place of x do not move it at all: the difference is 0 then.\n", out);
    if (e->kink[0])
        fputs("At steps marked kink a relu changes sides between x - 2h and x + 2h: L is not smooth there.\n", out);
}

void element_view(FILE *out, ModelCheck *c, ElementPlace place) {
    const Param *p = &c->table->param[place.param];
    real *value = c->parameters + p->offset + place.index;
    model_check_gradient(c);
    double analytic = (double)c->gradients[p->offset + place.index];
    char at[48];
    if (p->rank == 1)
        snprintf(at, sizeof at, "[%zu]", place.index);
    else
        snprintf(at, sizeof at, "[%zu,%zu]", place.index / (size_t)p->cols, place.index % (size_t)p->cols);
    fprintf(out, "%s%s%s%s\n", p->name, at, p->also[0] ? ", also " : "", p->also);
    fprintf(out, "  value                  %24.16e\n", (double)*value);
    fprintf(out, "  analytic gradient      %24.16e\n", analytic);
    print_contributions(out, c, place);

    StepErrors e;
    bool relu = c->p->config.activation == ACTIVATION_RELU;
    element_differences(
        &e, &(GradientCheck){.loss = model_check_loss, .pattern = relu ? model_check_pattern : NULL, .context = c},
        value);
    print_differences(out, &e, analytic);
    plot(out, &e, analytic);
    print_reason(out, &e);
}
