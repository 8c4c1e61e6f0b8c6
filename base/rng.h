/* Random numbers as pure functions: of a state that is one integer (Rng), or of the coordinates of
 * what is decided (hash_*), so that nothing has to be stored to draw the same again. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): a bijection of 64-bit integers that mixes all bits. */
static inline uint64_t hash64(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Hash of a sequence: fold its elements one by one, in order. */
static inline uint64_t hash_fold(uint64_t hash, uint64_t value) { return hash64(hash ^ hash64(value)); }

/* Two-multiply 32-bit mixer (constants: Wellons 2018, "lowbias32"): cheap enough to run per element. */
static inline uint32_t hash32(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

typedef struct Rng {
    uint64_t state;
} Rng;

uint64_t rng_next(Rng *rng);
double rng_uniform(Rng *rng);             /* in [0, 1) */
double rng_normal(Rng *rng);              /* mean 0, standard deviation 1 (Box and Muller 1958, the cosine branch) */
uint64_t rng_below(Rng *rng, uint64_t n); /* in 0 .. n-1, n > 0 */
void rng_shuffle(Rng *rng, int *items, int count); /* Fisher and Yates */

#endif
