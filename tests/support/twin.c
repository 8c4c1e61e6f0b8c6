#include "tests/support/twin.h"

#include <string.h>

#include "tests/support/probe.h"

int twin_size(Rng *rng, int most) {
    static const int sizes[] = {1,  2,  3,  5,  7,  8,  13,  15,  16,  17,  23,  31,  32,  33, 47,
                                48, 63, 64, 65, 67, 97, 127, 128, 129, 131, 193, 257, 300, 389};
    int count = 0;
    while (count < (int)(sizeof sizes / sizeof *sizes) && sizes[count] <= most) count++;
    return sizes[rng_below(rng, (uint64_t)count)];
}

real *twin_output(Arena *arena, size_t count) {
    real *x = arena_reals(arena, "output", count + 1, 1);
    for (size_t i = 0; i <= count; i++) x[i] = TWIN_UNTOUCHED;
    return x;
}

real *twin_random(Arena *arena, size_t count, uint64_t seed) {
    real *x = twin_output(arena, count);
    probe_random(x, count, seed);
    return x;
}

double *twin_zeros(Arena *arena, size_t count) {
    return memset(arena_array(arena, double, "twin", count), 0, count * sizeof(double));
}

double *twin_doubles(Arena *arena, const real *x, size_t count) {
    double *y = twin_zeros(arena, count);
    for (size_t i = 0; i < count; i++) y[i] = (double)x[i];
    return y;
}

TwinSum *twin_sums(Arena *arena, size_t count) {
    return memset(arena_array(arena, TwinSum, "twin", count), 0, count * sizeof(TwinSum));
}

TwinSum *twin_sums_from(Arena *arena, const real *before, size_t count) {
    TwinSum *sums = twin_sums(arena, count);
    for (size_t i = 0; i < count; i++) twin_add(&sums[i], (double)before[i], fabs((double)before[i]));
    return sums;
}

void twin_for_shapes(TwinCheck check, int rounds, int most_rows, int most_cols) {
    Rng rng = {hash64(3)};
    Arena arena;
    for (int round = 0; round < rounds; round++) {
        arena_init(&arena, "test");
        int N = twin_size(&rng, most_rows), D = twin_size(&rng, most_cols);
        check(N, D, 100 * (uint64_t)round, &arena);
        arena_free(&arena);
    }
}

void assert_sums_at(const real *fast, const TwinSum *sums, size_t count, double epsilons, const char *name,
                    const char *file, int line) {
    for (size_t i = 0; i < count; i++) {
        double apart = fabs((double)fast[i] - sums[i].value), limit = epsilons * TWIN_EPS * sums[i].size + 1e-35;
        if (apart <= limit) continue; /* NaN is far from everything */
        print_error("%s[%zu] is %.17g, its twin %.17g: apart by %.3g, more than %.3g\n", name, i, (double)fast[i],
                    sums[i].value, apart, limit);
        _fail(file, line);
    }
    if (fast[count] == TWIN_UNTOUCHED) return;
    print_error("%s: written behind its end\n", name);
    _fail(file, line);
}
