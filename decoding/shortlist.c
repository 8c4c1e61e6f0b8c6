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
static double quantize(int *n, double *rest, const real *x, int count) {
    real most = 0;
    double squares = 0;
    for (int i = 0; i < count; i++) most = larger(fabs(x[i]), most);
    double step = (double)most / STEPS;
    for (int i = 0; i < count; i++) {
        double steps = step > 0 ? (double)x[i] / step : 0;
        n[i] = fabs(steps) <= STEPS ? (int)lround(steps) : steps > 0 ? STEPS : -STEPS;
        double r = (double)x[i] - step * n[i];
        squares += r * r;
    }
    *rest = sqrt(squares);
    return step;
}

/* To a bound for one more class; what is not a number has none. */
static void raise_bound(double *bound, double length) {
    length *= ABOVE;
    *bound = !isfinite(length) ? (double)INFINITY : length > *bound ? length : *bound;
}

/* Column c of block b for class w; returns s. A sum of `in` products, each rounded at most in+2 times by a relative 2^-24,
 * is off by (in+2) 2^-24 |h| |w|: the exact logit is one, and the bound's few roundings are fewer. */
static double quantize_class(Shortlist *s, int b, int c, const real *w, int *n) {
    double rest, step = quantize(n, &rest, w, s->in), length = sqrt(vec_sum_squares(w, s->in));
    int8_t *q = s->q + (size_t)b * block_size(s->in);
    for (int i = 0; i < s->in; i++) {
        q[(i / BYTE_QUAD * SHORTLIST_BLOCK + c) * BYTE_QUAD + i % BYTE_QUAD] = (int8_t)n[i];
        s->start[b * SHORTLIST_BLOCK + c] -= OFFSET * n[i];
    }
    raise_bound(&s->of_h[b], rest + 2 * (s->in + 2) * 0x1p-24 * (length + rest));
    raise_bound(&s->of_e[b], length + rest);
    return step;
}

/* A last block that is not full repeats the last class. */
static void quantize_block(Shortlist *s, int b, const Linear *p, int *n) {
    double step[SHORTLIST_BLOCK], unit = 0;
    for (int c = 0; c < SHORTLIST_BLOCK; c++) {
        int v = b * SHORTLIST_BLOCK + c < p->out ? b * SHORTLIST_BLOCK + c : p->out - 1;
        step[c] = quantize_class(s, b, c, p->W + (size_t)v * (size_t)p->in, n);
        unit = step[c] > unit ? step[c] : unit;
    }
    s->unit[b] = unit;
    for (int c = 0; c < SHORTLIST_BLOCK; c++) s->scale[b * SHORTLIST_BLOCK + c] = unit > 0 ? (real)(step[c] / unit) : 0;
}

void shortlist_init(Shortlist *s, const Linear *p) {
    size_t blocks = (size_t)blocks_of(p->out);
    *s = (Shortlist){.in = p->in, .out = p->out};
    s->q = memory_alloc(blocks, block_size(p->in), "output weights in 8 bits");
    s->start = memory_alloc(blocks * SHORTLIST_BLOCK, sizeof *s->start, "sums of output weights in 8 bits");
    s->scale = memory_alloc(blocks * SHORTLIST_BLOCK, sizeof(real), "scales of output weights");
    s->unit = memory_alloc(blocks, sizeof *s->unit, "units of output weights");
    s->of_h = memory_alloc(blocks, sizeof *s->of_h, "errors of output weights");
    s->of_e = memory_alloc(blocks, sizeof *s->of_e, "lengths of output weights");
    int *n = memory_alloc((size_t)p->in, sizeof *n, "a class in 8 bits");
    for (int b = 0; b < (int)blocks; b++) quantize_block(s, b, p, n);
    memory_free(n);
}

void shortlist_free(Shortlist *s) {
    memory_free(s->q);
    memory_free(s->start);
    memory_free(s->scale);
    memory_free(s->unit);
    memory_free(s->of_h);
    memory_free(s->of_e);
    *s = (Shortlist){0};
}

/* Hidden states in 8 bits, and what is known of each. */
typedef struct Hidden {
    int rows;
    uint8_t *g;            /* [rows, byte_pad(in)] g + 128 */
    double *step;          /* [rows] t */
    double *length, *rest; /* [rows] at least |h| and |e| */
    double *least;         /* [rows] at most the largest allowed logit */
    double *upper;         /* [blocks,rows] at least the largest logit of a block */
} Hidden;

static Hidden hidden_new(const real *h, const Shortlist *s, int rows, Arena *arena) {
    int in = byte_pad(s->in), *n = arena_array(arena, int, "a hidden state in 8 bits", s->in);
    Hidden x = {.rows = rows, .g = arena_array(arena, uint8_t, "hidden states in 8 bits", (size_t)rows * (size_t)in)};
    x.step = arena_array(arena, double, "steps of hidden states", rows);
    x.length = arena_array(arena, double, "lengths of hidden states", rows);
    x.rest = arena_array(arena, double, "errors of hidden states", rows);
    x.least = arena_array(arena, double, "least largest logits", rows);
    x.upper = arena_array(arena, double, "bounds of logits", (size_t)blocks_of(s->out) * (size_t)rows);
    memset(x.g, 0, (size_t)rows * (size_t)in);
    for (int r = 0; r < rows; r++) {
        const real *h_r = h + (size_t)r * (size_t)s->in;
        double rest;
        x.step[r] = quantize(n, &rest, h_r, s->in);
        x.length[r] = ABOVE * sqrt(vec_sum_squares(h_r, s->in));
        x.rest[r] = ABOVE * rest;
        x.least[r] = (double)-INFINITY;
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

/* By how much a logit of block b may differ from its product in 8 bits. The last term: numbers below 2^-126 may be taken
 * for 0, in h, in w and among the sums. */
static double radius(const Hidden *x, const Shortlist *s, int row, int b) {
    double h = x->length[row], lost = s->in * 0x1p-125 * (1 + h + s->of_e[b]);
    return h * s->of_h[b] + x->rest[row] * s->of_e[b] + lost;
}

/* Bounds of all blocks but the first. */
static void bound(Hidden *x, const Shortlist *s, int first_allowed, Arena *scratch) {
    int32_t *sum = arena_array(scratch, int32_t, "products in 8 bits", (size_t)x->rows * SHORTLIST_BLOCK);
    for (int b = 1, v = SHORTLIST_BLOCK; v < s->out; b++, v += SHORTLIST_BLOCK) {
        byte_product(sum, s->start + v, x->g, s->q + (size_t)b * block_size(s->in), x->rows, byte_pad(s->in));
        for (int r = 0; r < x->rows; r++) {
            real most = largest_product(sum + (ptrdiff_t)r * SHORTLIST_BLOCK, s->scale + v);
            double z = x->step[r] * s->unit[b] * (double)most, far = radius(x, s, r, b);
            x->upper[(size_t)b * (size_t)x->rows + (size_t)r] = z + far;
            if (v >= first_allowed && z - far > x->least[r]) x->least[r] = z - far;
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
        for (int v = first_allowed; v < width; v++)
            if ((double)logits_row(l, r)[v] > x->least[r]) x->least[r] = (double)logits_row(l, r)[v];
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
