#include "decoding/shortlist.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

enum { STEPS = 127, OFFSET = 128 };

static const double ABOVE = 1.00001; /* makes a rounded length an upper bound */

static int blocks_of(int out) { return (out + SHORTLIST_BLOCK - 1) / SHORTLIST_BLOCK; }

static size_t block_size(int in) { return (size_t)byte_pad(in) * SHORTLIST_BLOCK; }

static real larger(real a, real b) { return a > b ? a : b; }

/* x = step n + rest, n in -127..127. Returns the step; rest: its length. An x that is not finite has a rest that is not. */
static real quantize(int *n, double *rest, const real *x, int count) {
    real most = 0;
    double squares = 0;
    for (int i = 0; i < count; i++) most = larger(fabs(x[i]), most);
    real step = most / STEPS;
    for (int i = 0; i < count; i++) {
        double steps = step > 0 ? (double)x[i] / (double)step : 0;
        n[i] = fabs(steps) <= STEPS ? (int)lround(steps) : steps > 0 ? STEPS : -STEPS;
        double r = (double)x[i] - (double)step * n[i];
        squares += r * r;
    }
    *rest = sqrt(squares);
    return step;
}

/* To a bound for one more class; what is not a number has none. */
static void raise_bound(real *bound, double length) {
    *bound = isfinite(length) ? larger((real)(ABOVE * length), *bound) : (real)INFINITY;
}

/* Column v for class w. A sum of `in` products, each rounded at most in+2 times by a relative 2^-24, is off by (in+2) 2^-24 |h| |w|:
 * the exact logit is one, and the bound's few roundings are fewer. */
static void quantize_class(Shortlist *s, int v, const real *w, int *n) {
    int block = v / SHORTLIST_BLOCK, column = v % SHORTLIST_BLOCK;
    double rest, length = sqrt(vec_sum_squares(w, s->in));
    s->scale[v] = quantize(n, &rest, w, s->in);
    int8_t *q = s->q + (size_t)block * block_size(s->in);
    for (int i = 0; i < s->in; i++) {
        q[(i / BYTE_QUAD * SHORTLIST_BLOCK + column) * BYTE_QUAD + i % BYTE_QUAD] = (int8_t)n[i];
        s->start[v] -= OFFSET * n[i];
    }
    raise_bound(&s->of_h[block], rest + 2 * (s->in + 2) * 0x1p-24 * (length + rest));
    raise_bound(&s->of_e[block], length + rest);
}

void shortlist_init(Shortlist *s, const Linear *p) {
    size_t blocks = (size_t)blocks_of(p->out);
    *s = (Shortlist){.in = p->in, .out = p->out};
    s->q = memory_alloc(blocks, block_size(p->in), "output weights in 8 bits");
    s->start = memory_alloc(blocks * SHORTLIST_BLOCK, sizeof *s->start, "sums of output weights in 8 bits");
    s->scale = memory_alloc(blocks * SHORTLIST_BLOCK, sizeof(real), "scales of output weights");
    s->of_h = memory_alloc(blocks, sizeof(real), "errors of output weights");
    s->of_e = memory_alloc(blocks, sizeof(real), "lengths of output weights");
    int *n = memory_alloc((size_t)p->in, sizeof *n, "a class in 8 bits");
    for (int v = 0; v < (int)blocks * SHORTLIST_BLOCK; v++) { /* a last block that is not full repeats the last class */
        int class = v < p->out ? v : p->out - 1;
        quantize_class(s, v, p->W + (size_t) class * (size_t)p->in, n);
    }
    memory_free(n);
}

void shortlist_free(Shortlist *s) {
    memory_free(s->q);
    memory_free(s->start);
    memory_free(s->scale);
    memory_free(s->of_h);
    memory_free(s->of_e);
    *s = (Shortlist){0};
}

/* Hidden states in 8 bits, and what is known of each. */
typedef struct Hidden {
    int rows;
    uint8_t *g;          /* [rows, byte_pad(in)] g + 128 */
    real *step;          /* [rows] t */
    real *length, *rest; /* [rows] at least |h| and |e| */
    real *least;         /* [rows] at most the largest allowed logit */
    real *upper;         /* [blocks,rows] at least the largest logit of a block */
} Hidden;

static Hidden hidden_new(const real *h, const Shortlist *s, int rows, Arena *arena) {
    int in = byte_pad(s->in), *n = arena_array(arena, int, "a hidden state in 8 bits", s->in);
    Hidden x = {.rows = rows, .g = arena_array(arena, uint8_t, "hidden states in 8 bits", (size_t)rows * (size_t)in)};
    x.step = arena_reals(arena, "steps of hidden states", rows, 1);
    x.length = arena_reals(arena, "lengths of hidden states", rows, 1);
    x.rest = arena_reals(arena, "errors of hidden states", rows, 1);
    x.least = arena_reals(arena, "least largest logits", rows, 1);
    x.upper = arena_reals(arena, "bounds of logits", blocks_of(s->out), rows);
    memset(x.g, 0, (size_t)rows * (size_t)in);
    for (int r = 0; r < rows; r++) {
        double rest;
        x.step[r] = quantize(n, &rest, h + (size_t)r * (size_t)s->in, s->in);
        x.length[r] = (real)(ABOVE * sqrt(vec_sum_squares(h + (size_t)r * (size_t)s->in, s->in)));
        x.rest[r] = (real)(ABOVE * rest);
        x.least[r] = -(real)INFINITY;
        for (int i = 0; i < s->in; i++) x.g[(size_t)r * (size_t)in + (size_t)i] = (uint8_t)(n[i] + OFFSET);
    }
    return x;
}

/* max_c scale_c sum_c, in strips. */
static real largest_product(const int32_t *sum, const real *scale) {
    enum { LANES = 16 };
    real lane[LANES];
#pragma omp simd
    for (int j = 0; j < LANES; j++) lane[j] = scale[j] * (real)sum[j];
    for (int c = LANES; c < SHORTLIST_BLOCK; c += LANES)
#pragma omp simd
        for (int j = 0; j < LANES; j++) lane[j] = larger(scale[c + j] * (real)sum[c + j], lane[j]);
    return vec_max(lane, LANES);
}

/* Bounds of all blocks but the first. */
static void bound(Hidden *x, const Shortlist *s, int first_allowed, Arena *scratch) {
    int32_t *sum = arena_array(scratch, int32_t, "products in 8 bits", (size_t)x->rows * SHORTLIST_BLOCK);
    for (int b = 1, v = SHORTLIST_BLOCK; v < s->out; b++, v += SHORTLIST_BLOCK) {
        byte_product(sum, s->start + v, x->g, s->q + (size_t)b * block_size(s->in), x->rows, byte_pad(s->in));
        for (int r = 0; r < x->rows; r++) {
            real z = x->step[r] * largest_product(sum + (ptrdiff_t)r * SHORTLIST_BLOCK, s->scale + v);
            real radius = x->length[r] * s->of_h[b] + x->rest[r] * s->of_e[b];
            x->upper[(size_t)b * (size_t)x->rows + (size_t)r] = z + radius;
            if (v >= first_allowed) x->least[r] = larger(z - radius, x->least[r]);
        }
    }
}

/* The first block of all rows, and the largest allowed logit in it. */
static void first_block(Logits *l, Hidden *x, const real *h, const PackedLinear *exact, int first_allowed,
                        Arena *scratch) {
    int width = l->V < SHORTLIST_BLOCK ? l->V : SHORTLIST_BLOCK;
    real *z = arena_reals(scratch, "first block of logits", x->rows, width);
    packed_linear_outputs(z, h, exact, x->rows, 0, width);
    for (int r = 0; r < x->rows; r++) {
        memcpy(logits_row(l, r), z + (ptrdiff_t)r * width, (size_t)width * sizeof(real));
        for (int v = first_allowed; v < width; v++) x->least[r] = larger(logits_row(l, r)[v], x->least[r]);
    }
}

static bool may_hold_largest(const Hidden *x, int row, int b) {
    return b == 0 || !(x->upper[(size_t)b * (size_t)x->rows + (size_t)row] < x->least[row]); /* true of NaN */
}

/* Block b of LOGITS_BLOCK of a row, whose first SHORTLIST_BLOCK is there. */
static void fill_block(Logits *l, const real *h, const Hidden *x, const PackedLinear *exact, int row, int b) {
    real *z = logits_row(l, row), most = -(real)INFINITY;
    int first = b * LOGITS_BLOCK, end = first + LOGITS_BLOCK < l->V ? first + LOGITS_BLOCK : l->V;
    bool wanted = false;
    for (int v = first; v < end; v += SHORTLIST_BLOCK) wanted |= may_hold_largest(x, row, v / SHORTLIST_BLOCK);
    for (int v = first, next; wanted && v < end; v = next) {
        next = v + SHORTLIST_BLOCK < end ? v + SHORTLIST_BLOCK : end;
        if (!may_hold_largest(x, row, v / SHORTLIST_BLOCK))
            vec_fill(z + v, -(real)INFINITY, next - v);
        else if (v > 0)
            packed_linear_outputs(z + v, h + (size_t)row * (size_t)exact->in, exact, 1, v, next);
    }
    if (wanted) most = vec_max(z + first, end - first);
    l->most[(size_t)row * (size_t)l->blocks + (size_t)b] = most;
}

void shortlist_logits(Logits *l, const real *h, const Shortlist *s, const PackedLinear *exact, int rows,
                      int first_allowed, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    Hidden x = hidden_new(h, s, rows, scratch);
    first_block(l, &x, h, exact, first_allowed, scratch);
    bound(&x, s, first_allowed, scratch);
    for (int r = 0; r < rows; r++)
        for (int b = 0; b < l->blocks; b++) fill_block(l, h, &x, exact, r, b);
    arena_release(scratch, mark);
}
