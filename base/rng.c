#include "base/rng.h"

#include <assert.h>
#include <math.h>

__extension__ typedef unsigned __int128 uint128;

uint64_t rng_next(Rng *rng) {
    uint64_t value = hash64(rng->state);
    rng->state += 0x9E3779B97F4A7C15u;
    return value;
}

double rng_uniform(Rng *rng) { return (double)(rng_next(rng) >> 11) * 0x1p-53; }

double rng_normal(Rng *rng) {
    double u = 1 - rng_uniform(rng); /* in (0, 1]: its logarithm is finite */
    double v = rng_uniform(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

uint64_t rng_below(Rng *rng, uint64_t n) {
    assert(n > 0);
    return (uint64_t)(((uint128)rng_next(rng) * n) >> 64);
}

void rng_shuffle(Rng *rng, int *items, int count) {
    for (int i = count - 1; i > 0; i--) {
        int j = (int)rng_below(rng, (uint64_t)i + 1);
        int swap = items[i];
        items[i] = items[j];
        items[j] = swap;
    }
}
