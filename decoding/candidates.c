#include "decoding/candidates.h"

enum { RUN = 64 }; /* logits that are compared with the threshold together: never of two blocks */
_Static_assert(LOGITS_BLOCK % RUN == 0, "a run belongs to one block");

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

static bool any_above(const real *z, int n, real limit) {
    int above = 0;
    for (int j = 0; j < n; j++) above |= z[j] > limit;
    return above != 0;
}

void candidates_add_row(Candidates *c, const Logits *logits, double base, int row) {
    const real *z = logits_row(logits, row), *most = logits->most + (size_t)row * (size_t)logits->blocks;
    real limit = rounded_down(threshold(c) - base);
    for (int v = 0; v < logits->V; v += RUN) {
        int n = v + RUN <= logits->V ? RUN : logits->V - v;
        if (!(most[v / LOGITS_BLOCK] > limit) || !any_above(z + v, n, limit)) continue;
        for (int j = v; j < v + n; j++) candidates_add(c, base + (double)z[j], row, j);
        limit = rounded_down(threshold(c) - base);
    }
}
