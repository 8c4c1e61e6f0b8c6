/* Tokens drawn at random instead of the best ones: from softmax(z / temperature), of all tokens, of the k most probable
 * (Fan et al. 2018), or of the fewest that have probability p together (Holtzman et al. 2020), or of both's. */
#ifndef DECODING_SAMPLING_H
#define DECODING_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/real.h"

typedef struct Sampling {
    bool on;
    int top_k;          /* 0: all */
    double top_p;       /* in (0, 1]; 1: all */
    double temperature; /* above 0 */
    uint64_t seed;
} Sampling;

/* A number in [0, 1) for each token drawn: it depends on nothing but the seed, the line, the sample of that line and the
 * place of the token, so samples do not change with batches or threads. */
double sampling_uniform(const Sampling *o, int64_t line, int sample, int place);

/* The token that u chooses; -1 where all of z [V] are -inf. */
int sampling_draw(const real *z, int V, const Sampling *o, double u, Arena *scratch);

#endif
