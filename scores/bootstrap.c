#include "scores/bootstrap.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The mixing of NumPy's SeedSequence, after the seed_seq_fe of O'Neill 2015: words go in one by one, each changed by a
 * constant that changes too, then every word of the pool is stirred into every other. */
static uint32_t mix_word(uint32_t value, uint32_t *constant, uint32_t multiplier) {
    value ^= *constant;
    *constant *= multiplier;
    value *= *constant;
    return value ^ value >> 16;
}

/* state[0..4) as 64-bit words. */
static void spread_seed(uint64_t state[4], uint64_t seed) {
    uint32_t pool[4] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, constant = 0x43B0D7E5u;
    for (int i = 0; i < 4; i++) pool[i] = mix_word(pool[i], &constant, 0x931E8875u);
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
            if (from == to) continue;
            uint32_t mixed = 0xCA01F9DDu * pool[to] - 0x4973F715u * mix_word(pool[from], &constant, 0x931E8875u);
            pool[to] = mixed ^ mixed >> 16;
        }
    constant = 0x8B51F9DDu;
    for (int i = 0; i < 4; i++) {
        uint64_t low = mix_word(pool[2 * i % 4], &constant, 0x58F38DEDu);
        state[i] = (uint64_t)mix_word(pool[(2 * i + 1) % 4], &constant, 0x58F38DEDu) << 32 | low;
    }
}

static void step(Draws *d) {
    const Uint128 multiplier = (Uint128)2549297995355413924u << 64 | 4865540595714422341u;
    d->state = d->state * multiplier + d->increment;
}

void draws_init(Draws *d, uint64_t seed) {
    uint64_t s[4];
    spread_seed(s, seed);
    *d = (Draws){.increment = ((Uint128)s[2] << 64 | s[3]) << 1 | 1};
    step(d);
    d->state += (Uint128)s[0] << 64 | s[1];
    step(d);
}

static uint32_t next(Draws *d) {
    if (!d->half_left) {
        step(d);
        uint64_t folded = (uint64_t)(d->state >> 64) ^ (uint64_t)d->state;
        unsigned turn = (unsigned)(d->state >> 122);
        d->bits = folded >> turn | folded << (-turn & 63);
    }
    uint32_t half = (uint32_t)(d->half_left ? d->bits >> 32 : d->bits);
    d->half_left = !d->half_left;
    return half;
}

uint32_t draws_below(Draws *d, uint32_t n) {
    if (n == 1) return 0;        /* and nothing is drawn */
    uint32_t threshold = -n % n; /* 2^32 mod n: as many products are too many */
    uint64_t product;
    do product = (uint64_t)next(d) * n;
    while ((uint32_t)product < threshold);
    return (uint32_t)(product >> 32);
}

void bootstrap_scores(double *out, const Counts *c, int samples, uint64_t seed) {
    assert(c->sentences >= 1);
    size_t fields = (size_t)metric_fields(c->metric);
    Draws draws;
    draws_init(&draws, seed);
    for (int s = 0; s < samples; s++) {
        int64_t sums[METRIC_MOST_FIELDS] = {0};
        for (int i = 0; i < c->sentences; i++) {
            const int32_t *counts = c->counts + draws_below(&draws, (uint32_t)c->sentences) * fields;
            for (size_t f = 0; f < fields; f++) sums[f] += counts[f];
        }
        out[s] = metric_score(c->metric, sums).value;
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

Interval bootstrap_interval(double *scores, int samples) {
    double sum = 0;
    for (int i = 0; i < samples; i++) sum += scores[i];
    qsort(scores, (size_t)samples, sizeof *scores, by_value);
    int outside = samples / 40; /* 2.5% on either side */
    return (Interval){sum / samples, 0.5 * (scores[samples - 1 - outside] - scores[outside])};
}

double bootstrap_p_value(const double *a, const double *b, int samples, double difference) {
    double sum = 0;
    for (int i = 0; i < samples; i++) sum += fabs(a[i] - b[i]);
    if (sum == 0) return 1;
    int further = 0;
    for (int i = 0; i < samples; i++) further += fabs(a[i] - b[i]) - sum / samples > fabs(difference);
    return (further + 1.0) / (samples + 1.0);
}
