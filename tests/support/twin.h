/* Fast paths against naive twins. A twin follows the definition in plain double loops, on the same inputs; a fast path
 * may differ from it by the rounding of `real` and by nothing else. All arrays live in an arena. */
#ifndef TESTS_TWIN_H
#define TESTS_TWIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/real.h"
#include "base/rng.h"

/* Tolerances are small multiples of this: half a unit in the last place of 1; in double eight times as much, because
 * there the twins round as well, and their sums are the longest. */
static const double TWIN_EPS = REAL_IS_DOUBLE ? 0x1p-50 : 0x1p-24;

/* What a function must not touch holds this. */
static const real TWIN_UNTOUCHED = 77;

/* 1, primes, and sizes around the lengths of vectors, tiles and blocks, none above `most`. */
int twin_size(Rng *rng, int most);

/* Mean 0, deviation 1, and one more behind the end that is TWIN_UNTOUCHED. */
real *twin_random(Arena *arena, size_t count, uint64_t seed);

/* The same, but all is TWIN_UNTOUCHED: for outputs. */
real *twin_output(Arena *arena, size_t count);

double *twin_zeros(Arena *arena, size_t count);
double *twin_doubles(Arena *arena, const real *x, size_t count);

/* A sum of products with the sum of their sizes, which is what its rounding is relative to. */
typedef struct TwinSum {
    double value, size;
} TwinSum;

static inline void twin_add(TwinSum *sum, double term, double size) {
    sum->value += term;
    sum->size += size;
}

TwinSum *twin_sums(Arena *arena, size_t count); /* zeros */

/* What a gradient holds before it is added to. */
TwinSum *twin_sums_from(Arena *arena, const real *before, size_t count);

/* N rows of D for each of many rounds, each with an arena of its own. */
typedef void (*TwinCheck)(int N, int D, uint64_t seed, Arena *arena);
void twin_for_shapes(TwinCheck check, int rounds, int most_rows, int most_cols);

/* |fast - value| <= epsilons TWIN_EPS size (and what is denormal, so that exp may end at e^-87), element by element. */
#define assert_sums(fast, sums, count, epsilons) assert_sums_at(fast, sums, count, epsilons, #fast, __FILE__, __LINE__)
void assert_sums_at(const real *fast, const TwinSum *sums, size_t count, double epsilons, const char *name,
                    const char *file, int line);

#endif
