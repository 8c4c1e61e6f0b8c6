/* What gradient tests share: cmocka, the harness that proves a module's gradients (study/probe.h), and asserts in the
 * precision of the program. */
#ifndef TESTS_PROBE_H
#define TESTS_PROBE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/modules.h"
#include "study/probe.h"

/* Checks every element of a module of study/modules.h, in all of its variants; prints a line for each. */
void assert_module(const char *name);

/* max |a - b| / max |b|; with a b of zeros, max |a|. NaN where a or b holds one. */
double relative_difference(const real *a, const real *b, size_t count);

/* cmocka's assert_float_equal casts to float. */
#define assert_near(a, b, tolerance) assert_near_at((double)(a), (double)(b), tolerance, __FILE__, __LINE__)
void assert_near_at(double a, double b, double tolerance, const char *file, int line);
#define assert_below(value, limit) assert_below_at(value, limit, __FILE__, __LINE__)
void assert_below_at(double value, double limit, const char *file, int line);

#endif
