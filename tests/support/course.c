#include "tests/support/course.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/scratch.h"

/* Where a reader stands in a text. */
typedef struct Place {
    const char *rest;
    int line; /* of what was read last, from 1 */
} Place;

/* The next line without its newline; false at the end. */
static bool next_line(Place *p, char line[256]) {
    if (*p->rest == '\0') return false;
    size_t length = strcspn(p->rest, "\n");
    snprintf(line, 256, "%.*s", (int)length, p->rest);
    p->rest += length + (p->rest[length] == '\n');
    p->line++;
    return true;
}

static char *example_text(const CourseExample *e) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    e->print(out);
    fclose(out);
    return text;
}

/* Compares the lines up to the closing fence; a line that one side lacks counts as empty. */
static int compare_block(FILE *report, const char *page, Place *p, const CourseExample *e) {
    char *text = example_text(e), wanted[256], line[256];
    Place computed = {text, 0};
    int differences = 0;
    bool in_block = true;
    while (true) {
        in_block = in_block && next_line(p, line) && strcmp(line, "```") != 0;
        bool more = next_line(&computed, wanted);
        if (!in_block && !more) break;
        if (!in_block || !more || strcmp(line, wanted) != 0) {
            fprintf(report, "%s:%d: %s: the page says \"%s\", the code computes \"%s\"\n", page, p->line, e->name,
                    in_block ? line : "", more ? wanted : "");
            differences++;
        }
    }
    free(text);
    return differences;
}

static const CourseExample *find(const CourseExample *example, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(example[i].name, name) == 0) return &example[i];
    return NULL;
}

int course_differences(FILE *report, const char *page, const char *text, const CourseExample *example, int count) {
    Place p = {text, 0};
    char line[256], name[64];
    int differences = 0, found = 0;
    while (next_line(&p, line)) {
        if (sscanf(line, "<!-- computed: %63s -->", name) != 1) continue;
        const CourseExample *e = find(example, count, name);
        if (e == NULL || !next_line(&p, line) || strcmp(line, "```") != 0) {
            fprintf(report, "%s:%d: %s: %s\n", page, p.line, name, e ? "no block follows" : "no example is called so");
            differences++;
            continue;
        }
        differences += compare_block(report, page, &p, e);
        found++;
    }
    if (found != count) fprintf(report, "%s: %d of %d examples are shown\n", page, found, count);
    return differences + (found != count);
}

void course_check(const char *page, const CourseExample *example, int count) {
    size_t size;
    char *text = scratch_read(page, &size);
    int differences = course_differences(stderr, page, text, example, count);
    free(text);
    assert_int_equal(differences, 0);
}

int course_print(const CourseExample *example, int count, const char *name) {
    const CourseExample *e = find(example, count, name);
    if (e != NULL) e->print(stdout);
    return e == NULL;
}

void course_number(FILE *out, const char *name, double x) {
    real value = (real)x;
    course_matrix(out, name, &value, 1, 1);
}

void course_matrix(FILE *out, const char *name, const real *x, int rows, int cols) {
    for (int i = 0; i < rows; i++) {
        fprintf(out, "%-16s", i == 0 ? name : "");
        for (int j = 0; j < cols; j++) {
            double value = (double)x[i * cols + j];
            fprintf(out, " %9.4f", fabs(value) < 0.00005 ? 0 : value); /* no -0.0000 */
        }
        fputc('\n', out);
    }
}
