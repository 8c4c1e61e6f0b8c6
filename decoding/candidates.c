#include "decoding/candidates.h"

#include <stdbool.h>

#include "base/vec.h"

enum { BLOCK = 64 }; /* logits that are compared with the threshold together */

double log_normalizer(const real *z, int V) {
    real most = vec_max(z, V);
    return (double)most + log((double)vec_sum_exp(z, most, V));
}

/* What a candidate has to exceed. */
static double threshold(const Candidates *c) {
    return c->count < c->most ? (double)-INFINITY : c->most > 0 ? c->best[c->most - 1].sum : (double)INFINITY;
}

void candidates_add(Candidates *c, double sum, int row, int id) {
    if (!(sum > threshold(c))) return;
    int i = c->count < c->most ? c->count++ : c->most - 1;
    for (; i > 0 && c->best[i - 1].sum < sum; i--) c->best[i] = c->best[i - 1];
    c->best[i] = (Candidate){sum, row, id};
}

/* The largest real that is not above x: comparing with it loses no candidate. */
static real rounded_down(double x) {
    real rounded = (real)x;
    return (double)rounded > x ? nextafter(rounded, (real)-INFINITY) : rounded;
}

static bool any_above(const real *z, real limit) {
    int above = 0;
    for (int j = 0; j < BLOCK; j++) above |= z[j] > limit;
    return above != 0;
}

void candidates_add_row(Candidates *c, const real *z, double base, int row, int V) {
    for (int v = 0; v < V; v += BLOCK) {
        int end = v + BLOCK <= V ? v + BLOCK : V;
        if (end - v == BLOCK && !any_above(z + v, rounded_down(threshold(c) - base))) continue;
        for (int j = v; j < end; j++) candidates_add(c, base + (double)z[j], row, j);
    }
}
