/* The numbers that docs/course prints are what the code computes.
 *
 * A page marks a fenced block with the comment line  <!-- computed: NAME -->  above it. The example of that name writes
 * the block's lines from the real functions of model/ and training/, and each line has to be the page's. */
#ifndef TESTS_SUPPORT_COURSE_H
#define TESTS_SUPPORT_COURSE_H

#include <stdio.h>

#include "base/real.h"

typedef struct CourseExample {
    const char *name;
    void (*print)(FILE *out);
} CourseExample;

/* Lines of the page that are not the example's, marked blocks without an example, and examples without a block; each is
 * reported with page and line. */
int course_differences(FILE *report, const char *page, const char *text, const CourseExample *example, int count);

/* Fails the test where the file `page` has such differences. */
void course_check(const char *page, const CourseExample *example, int count);

/* For authors: prints the example that the command line names. Returns main's value. */
int course_print(const CourseExample *example, int count, const char *name);

/* A name, then the rows of x [rows,cols] with four decimals. */
void course_matrix(FILE *out, const char *name, const real *x, int rows, int cols);
void course_number(FILE *out, const char *name, double x);

#endif
