#include "study/inspection_text.h"

#include <math.h>
#include <string.h>

#include "base/edit_distance.h"

enum { BEST_SHOWN = 5, PIECE_WIDTH = 14 };

/* Padded to a width of characters, not bytes. */
static void print_padded(FILE *out, const char *text, int width) {
    int characters = 0;
    for (const char *c = text; *c != '\0'; c++) characters += (*c & 0xC0) != 0x80;
    fprintf(out, "%s%*s", text, characters < width ? width - characters : 0, "");
}

static void print_side(FILE *out, const char *title, const Tokenizer *tokenizer, const int *ids, int count) {
    fprintf(out, "%s (%d tokens)\n   ", title, count);
    for (int i = 0; i < count; i++) fprintf(out, " %s", tokenizer_piece(tokenizer, ids[i]));
    fputs("\n", out);
}

static void print_steps(FILE *out, const Inspection *in) {
    const Tokenizer *tokenizer = in->run->target;
    int T = packed_rows(&in->batch.target);
    fprintf(out, "\n%4s  %-*s %9s %9s %5s   the %d most probable\n", "", PIECE_WIDTH, "token", "-log p", "p", "rank",
            BEST_SHOWN);
    for (int t = 0; t < T; t++) {
        const InspectionStep *s = &in->step[t];
        fprintf(out, "%4d  ", t + 1);
        print_padded(out, tokenizer_piece(tokenizer, s->id), PIECE_WIDTH);
        fprintf(out, " %9.5f %9.6f %5d  ", -s->log_p, exp(s->log_p), s->rank);
        for (int i = 0; i < s->best_count && i < BEST_SHOWN; i++)
            fprintf(out, " %s %.4f", tokenizer_piece(tokenizer, s->best[i]), s->best_p[i]);
        fputs("\n", out);
    }
    double log_p = inspection_log_p(in);
    fprintf(out, "log p(target | source) = %.6f, %.6f a token; perplexity %.4f\n", log_p, log_p / T, exp(-log_p / T));
}

static void print_shape(FILE *out, int rows, int cols) {
    char shape[32];
    snprintf(shape, sizeof shape, "[%d,%d]", rows, cols);
    fprintf(out, " %-12s", shape);
}

static void print_tensors(FILE *out, const Trace *trace, bool gradients) {
    for (int i = 0; i < trace->count; i++) {
        const TraceTensor *t = &trace->tensor[i];
        if (t->is_gradient != gradients) continue;
        print_padded(out, t->name, 46);
        print_shape(out, t->rows, t->cols);
        if (gradients)
            fprintf(out, " %11.5g %11.5g", t->norm, t->largest);
        else
            fprintf(out, " %11.5g %11.5g %11.5g", t->mean, t->deviation, t->largest);
        fprintf(out, "   %s, %s", t->function, t->file);
        fprintf(out, t->formula[0] != '\0' ? ":  %s\n" : "\n", t->formula);
    }
}

/* A parameter, or its gradient, as a tensor of the trace. */
static TraceTensor parameter(const Param *p, real *slab) {
    TraceTensor t = {.rows = p->rows, .cols = p->cols, .values = slab + p->offset};
    trace_measure(&t);
    return t;
}

static void print_parameters(FILE *out, const Inspection *in) {
    for (int i = 0; i < in->run->table.count; i++) {
        const Param *p = &in->run->table.param[i];
        TraceTensor value = parameter(p, in->run->slab), gradient = parameter(p, in->gradients);
        print_padded(out, p->name, 58);
        print_shape(out, p->rows, p->cols);
        fprintf(out, " %11.5g %11.5g %11.5g\n", value.norm, gradient.norm, gradient.largest);
    }
}

void inspection_print(FILE *out, const Inspection *in) {
    const Batch *b = &in->batch;
    print_side(out, "source", in->run->source, b->source_ids, packed_rows(&b->source));
    print_side(out, in->target_given ? "target, as given" : "target, the model's own greedy translation",
               in->run->target, b->target_out, packed_rows(&b->target));
    print_steps(out, in);
    fprintf(out, "\nForward pass, in order of computation\n%-46s %-12s %11s %11s %11s   computed by\n", "tensor",
            "shape", "mean", "deviation", "largest");
    print_tensors(out, &in->trace, false);
    fprintf(out,
            "\nBackward pass from L = -log p(target | source), in order of computation\n%-46s %-12s %11s %11s   "
            "computed by\n",
            "gradient with respect to", "shape", "norm", "largest");
    print_tensors(out, &in->trace, true);
    fprintf(out, "\nParameters\n%-58s %-12s %11s %11s %11s\n", "tensor", "shape", "norm", "gradient", "its largest");
    print_parameters(out, in);
}

static void print_values(FILE *out, const TraceTensor *t) {
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->cols; j++)
            fprintf(out, "%.9g%c", (double)t->values[(size_t)i * (size_t)t->cols + (size_t)j],
                    j + 1 < t->cols ? '\t' : '\n');
}

/* A parameter by its name, or with .grad behind it its gradient. */
static bool find_parameter(TraceTensor *t, const Inspection *in, const char *name) {
    char plain[96 + 160];
    size_t length = strlen(name);
    bool gradient = length > 5 && strcmp(name + length - 5, ".grad") == 0;
    snprintf(plain, sizeof plain, "%.*s", (int)(gradient ? length - 5 : length), name);
    int place = param_find(&in->run->table, plain);
    if (place >= 0) *t = parameter(&in->run->table.param[place], gradient ? in->gradients : in->run->slab);
    return place >= 0;
}

/* The name that was meant by one that does not exist; NULL where none is near. */
static const char *nearest_name(const Inspection *in, const char *name) {
    const ParamTable *table = &in->run->table;
    const char *found = NULL;
    for (int i = 0, best = edit_near(name); i < in->trace.count + table->count; i++) {
        const char *other = i < in->trace.count ? in->trace.tensor[i].name : table->param[i - in->trace.count].name;
        int distance = edit_distance(name, other);
        if (distance >= best) continue;
        best = distance;
        found = other;
    }
    return found;
}

bool inspection_print_tensor(FILE *out, const Inspection *in, const char *name, Error *error) {
    TraceTensor found;
    const TraceTensor *t = trace_find(&in->trace, name);
    if (t == NULL && find_parameter(&found, in, name)) t = &found;
    if (t == NULL) {
        const char *meant = nearest_name(in, name);
        if (meant == NULL) return error_set(error, "--tensor %s: there is none; without --tensor all are listed", name);
        return error_set(error, "--tensor %s: there is none; did you mean %s?", name, meant);
    }
    print_values(out, t);
    return true;
}
