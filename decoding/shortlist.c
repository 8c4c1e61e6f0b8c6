#include "decoding/shortlist.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec.h"

enum { STEPS = 127 };

static int blocks_of(int out) { return (out + SHORTLIST_BLOCK - 1) / SHORTLIST_BLOCK; }

static size_t block_size(int in) { return (size_t)in * SHORTLIST_BLOCK; }

/* One row w [in] of weights: its scale, its column of the block, and |r| and |w| in front of the rounding of sums: a sum of
 * `in` products, each rounded at most in+2 times by a relative 2^-24, is off by (in+2) 2^-24 |h| |w|; there are two. */
static void quantize(Shortlist *s, int v, const real *w) {
    real most = 0;
    for (int i = 0; i < s->in; i++) most = fmax(most, fabs(w[i]));
    real scale = most / STEPS;
    int8_t *column = s->q + (size_t)(v / SHORTLIST_BLOCK) * block_size(s->in) + v % SHORTLIST_BLOCK;
    double squares = 0, rest = 0;
    for (int i = 0; i < s->in; i++) {
        int q = scale > 0 ? (int)lround((double)w[i] / (double)scale) : 0;
        double r = (double)w[i] - (double)scale * q;
        column[(size_t)i * SHORTLIST_BLOCK] = (int8_t)q;
        squares += (double)w[i] * (double)w[i];
        rest += r * r;
    }
    s->scale[v] = scale;
    s->radius[v] = (real)(1.00001 * (sqrt(rest) + 2 * (s->in + 2) * 0x1p-24 * (sqrt(squares) + sqrt(rest))));
}

void shortlist_init(Shortlist *s, const Linear *p) {
    *s = (Shortlist){.in = p->in, .out = p->out};
    s->q = memory_alloc((size_t)blocks_of(p->out), block_size(p->in), "output weights in 8 bits");
    s->scale = memory_alloc((size_t)p->out, sizeof(real), "scales of output weights");
    s->radius = memory_alloc((size_t)p->out, sizeof(real), "errors of output weights");
    for (int v = 0; v < p->out; v++) quantize(s, v, p->W + (size_t)v * p->in);
}

void shortlist_free(Shortlist *s) {
    memory_free(s->q);
    memory_free(s->scale);
    memory_free(s->radius);
    *s = (Shortlist){0};
}

/* sum_j = h q_j for the columns of a block. */
static void multiply(real sum[SHORTLIST_BLOCK], const real *h, const int8_t *q, int in) {
    vec_fill(sum, 0, SHORTLIST_BLOCK);
    for (int i = 0; i < in; i++) {
        const int8_t *q_i = q + (size_t)i * SHORTLIST_BLOCK;
#pragma omp simd
        for (int j = 0; j < SHORTLIST_BLOCK; j++) sum[j] += h[i] * (real)q_i[j];
    }
}

/* upper_b: the most that a logit of block b can be. Returns the least that the largest from first_allowed on is. */
static real bound(real *upper, const real *h, const Shortlist *s, int first_allowed) {
    real length = (real)(1.00001 * sqrt((double)vec_sum_squares(h, s->in))), least = -(real)INFINITY;
    for (int b = 0, v = 0; v < s->out; b++, v += SHORTLIST_BLOCK) {
        real sum[SHORTLIST_BLOCK];
        int width = s->out - v < SHORTLIST_BLOCK ? s->out - v : SHORTLIST_BLOCK;
        multiply(sum, h, s->q + (size_t)b * block_size(s->in), s->in);
        upper[b] = -(real)INFINITY;
        for (int j = 0; j < width; j++) {
            real z = s->scale[v + j] * sum[j], radius = s->radius[v + j] * length;
            upper[b] = z + radius > upper[b] ? z + radius : upper[b];
            if (v + j >= first_allowed) least = z - radius > least ? z - radius : least;
        }
    }
    return least;
}

void shortlist_logits(real *z, const real *h, const Shortlist *s, const PackedLinear *exact, int first_allowed,
                      Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    real *upper = arena_reals(scratch, "bounds of logits", blocks_of(s->out), 1);
    real least = bound(upper, h, s, first_allowed);
    for (int b = 0, v = 0; v < s->out; b++, v += SHORTLIST_BLOCK) {
        int end = v + SHORTLIST_BLOCK < s->out ? v + SHORTLIST_BLOCK : s->out;
        if (b == 0 || upper[b] >= least)
            packed_linear_outputs(z + v, h, exact, 1, v, end);
        else
            vec_fill(z + v, -(real)INFINITY, end - v);
    }
    arena_release(scratch, mark);
}
