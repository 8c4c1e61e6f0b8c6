/* The shortlist: exact where the largest logit is, whatever the weights. */
#include "tests/support/probe.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "decoding/shortlist.h"

enum { MOST_IN = 128, MOST_OUT = 700, ROWS = 6 }; /* rows: more than byte_product takes at a time, and a rest */

typedef struct Case {
    real W[MOST_OUT * MOST_IN], h[ROWS * MOST_IN], exact[ROWS * MOST_OUT];
    Linear p;
    PackedLinear packed;
    Shortlist shortlist;
    Arena arena;
} Case;

static void case_init(Case *c, int in, int out, uint64_t seed) {
    probe_random(c->W, (size_t)(in * out), seed);
    probe_random(c->h, (size_t)(ROWS * in), seed + 1);
    c->p = (Linear){.in = in, .out = out, .W = c->W};
}

static void case_pack(Case *c) {
    packed_linear_init(&c->packed, &c->p);
    shortlist_init(&c->shortlist, &c->p);
    arena_init(&c->arena, "test");
}

static void case_free(Case *c) {
    packed_linear_free(&c->packed);
    shortlist_free(&c->shortlist);
    arena_free(&c->arena);
}

/* The logit that a reader of blocks sees. */
static real seen(const Logits *l, int row, int v) {
    bool left_out = l->most[row * l->blocks + v / LOGITS_BLOCK] == -(real)INFINITY;
    return left_out ? -(real)INFINITY : logits_row(l, row)[v];
}

/* Every logit is the exact one or -inf, and those as large as the largest allowed one are exact. Returns how many are. */
static int check_row(const Case *c, const Logits *l, int row, int first_allowed) {
    const real *exact = c->exact + row * c->p.out;
    int out = c->p.out, count = 0;
    real largest = -(real)INFINITY;
    for (int v = first_allowed; v < out; v++) largest = exact[v] > largest ? exact[v] : largest;
    for (int v = 0; v < out; v++) {
        real z = seen(l, row, v);
        bool is_exact = z == exact[v];
        assert_true(is_exact || z == -(real)INFINITY);
        assert_true(is_exact || (v >= SHORTLIST_BLOCK && exact[v] < largest));
        assert_true(l->most[row * l->blocks + v / LOGITS_BLOCK] >= z);
        count += is_exact;
    }
    return count;
}

static int check(Case *c, int first_allowed) {
    int count = 0;
    packed_linear_forward(c->exact, c->h, &c->packed, ROWS);
    for (int rows = 1; rows <= ROWS; rows++) {
        ArenaMark mark = arena_mark(&c->arena);
        Logits l = logits_new(rows, c->p.out, false, &c->arena);
        shortlist_logits(&l, c->h, &c->shortlist, &c->packed, rows, first_allowed, &c->arena);
        for (int r = 0; r < rows; r++) count += check_row(c, &l, r, first_allowed);
        arena_release(&c->arena, mark);
    }
    return count;
}

static void test_random_weights(void **state) {
    (void)state;
    static const int in[] = {1, 2, 7, 64, 128}, out[] = {1, 5, 31, 32, 33, 64, 65, 257, 700};
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 9; j++)
            for (uint64_t seed = 0; seed < 10; seed++) {
                case_init(c, in[i], out[j], 10 * seed + 1);
                case_pack(c);
                check(c, seed % 2 == 0 || out[j] <= 200 ? 0 : 200);
                case_free(c);
            }
    memory_free(c);
}

/* It would be right, and useless, if everything were computed: where one logit stands out, one block is, and the first. */
static void test_leaves_out(void **state) {
    (void)state;
    Case *c = memory_alloc(1, sizeof *c, "test");
    case_init(c, MOST_IN, MOST_OUT, 3);
    for (int i = 0; i < MOST_IN; i++) c->W[500 * MOST_IN + i] = c->h[i];
    case_pack(c);
    for (int r = 1; r < ROWS; r++) memcpy(c->h + r * MOST_IN, c->h, MOST_IN * sizeof(real));
    assert_int_equal(check(c, 0), ROWS * (ROWS + 1) / 2 * 2 * SHORTLIST_BLOCK);
    case_free(c);
    memory_free(c);
}

/* Weights that 8 bits cannot tell apart: one large one sets the steps, and the logits differ in what is below half of one. */
static void test_differences_below_a_step(void **state) {
    (void)state;
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (uint64_t seed = 0; seed < 50; seed++) {
        case_init(c, 32, MOST_OUT, 1000 + seed);
        for (int v = 0; v < MOST_OUT; v++) {
            for (int i = 0; i < 32; i++) c->W[v * 32 + i] *= (real)1e-3;
            c->W[v * 32] = 1;
        }
        case_pack(c);
        check(c, 0);
        case_free(c);
    }
    memory_free(c);
}

/* In whole numbers up to 127 nothing is rounded, and the bound of that part is nothing; the other part alone must cover
 * logits that differ by less than its rounding. Class 0 is the largest, and not always allowed. */
static void test_tight_bounds(void **state) {
    (void)state;
    enum { IN = 32, OUT = 650 };
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (uint64_t seed = 0; seed < 60; seed++) {
        bool whole_W = seed % 3 != 1, whole_h = seed % 3 != 2;
        case_init(c, IN, OUT, 5000 + seed);
        for (int v = 0; v < OUT; v++)
            for (int i = 0; i < IN; i++) {
                real *w = &c->W[v * IN + i], common = (real)(i * 37 % 60);
                *w = i == 0 ? 127 : whole_W ? common + rint(*w) : common + *w / 100;
            }
        for (int i = 0; i < ROWS * IN; i++) {
            real h = whole_h ? rint(c->h[i] * 20) : c->h[i] * 20;
            c->h[i] = i % IN == 0 ? 127 : h;
            if (i > 0 && i < IN) c->W[i] += h > 0 ? 3 : -3;
        }
        case_pack(c);
        check(c, seed % 2 == 0 ? 0 : seed % 4 == 1 ? 36 : 200);
        case_free(c);
    }
    memory_free(c);
}

/* Equal rows, rows of zeros, and logits from 1e-37, where products are taken for 0, up to 1e37. */
static void test_odd_weights(void **state) {
    (void)state;
    enum { IN = 16, DIFFERENT = 300 };
    static const real of_W[] = {0, 1, (real)1e-18, (real)1e36}, of_h[] = {0, 1, (real)3e-20, (real)1e-10};
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (uint64_t seed = 0; seed < 10; seed++)
        for (int k = 0; k < 16; k++) {
            case_init(c, IN, MOST_OUT, 7 + seed);
            real difference = seed % 2 == 0 ? 1 : (real)0.01;
            for (int v = MOST_OUT - 1; v > 0; v--) /* each from rows that are still as they were */
                for (int i = 0; i < IN; i++) {
                    real w = difference * c->W[v % DIFFERENT * IN + i] + (1 - difference) * c->W[i];
                    c->W[v * IN + i] = w * of_W[k / 4];
                }
            for (int i = 0; i < IN; i++) c->W[i] *= of_W[k / 4];
            for (int i = 0; i < ROWS * IN; i++) c->h[i] *= of_h[k % 4];
            case_pack(c);
            check(c, 0);
            case_free(c);
        }
    memory_free(c);
}

/* What is not a number has no bound, so it is computed; it hides no class of other blocks, and no other row. */
static void test_not_a_number(void **state) {
    (void)state;
    enum { ODD_CLASS = 600, ODD_ROW = 2, IN = 16 };
    static const real odd[] = {(real)NAN, (real)INFINITY, -(real)INFINITY};
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (int o = 0; o < 3; o++) {
        case_init(c, IN, MOST_OUT, 11);
        c->W[ODD_CLASS * IN + 3] = odd[o];
        c->h[ODD_ROW * IN + 5] = odd[o];
        case_pack(c);
        packed_linear_forward(c->exact, c->h, &c->packed, ROWS);
        Logits l = logits_new(ROWS, MOST_OUT, false, &c->arena);
        shortlist_logits(&l, c->h, &c->shortlist, &c->packed, ROWS, 0, &c->arena);
        for (int r = 0; r < ROWS; r++) {
            const real *exact = c->exact + r * MOST_OUT;
            real z = seen(&l, r, ODD_CLASS);
            int best = 0;
            assert_true(z == exact[ODD_CLASS] || (isnan(z) && isnan(exact[ODD_CLASS])));
            for (int v = 1; v < ODD_CLASS / LOGITS_BLOCK * LOGITS_BLOCK; v++) best = exact[v] > exact[best] ? v : best;
            if (r != ODD_ROW) assert_true(seen(&l, r, best) == exact[best]);
        }
        case_free(c);
    }
    memory_free(c);
}

/* The sums, one after another. */
static void test_byte_product(void **state) {
    (void)state;
    enum { MOST = 12 };
    uint8_t g[ROWS * MOST];
    _Alignas(64) int8_t q[BYTE_COLS * MOST];
    int32_t sum[ROWS * BYTE_COLS], start[BYTE_COLS];
    for (int i = 0; i < ROWS * MOST; i++) g[i] = (uint8_t)(i == 3 ? 255 : i * 97 + 1);
    for (int i = 0; i < BYTE_COLS * MOST; i++) q[i] = (int8_t)(i % 5 == 0 ? -128 : i * 41 % 128);
    for (int c = 0; c < BYTE_COLS; c++) start[c] = 1000 * c - 7;
    for (int in = 0; in <= MOST; in += BYTE_QUAD)
        for (int rows = 1; rows <= ROWS; rows++) {
            byte_product(sum, start, g, q, rows, in);
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < BYTE_COLS; c++) {
                    int32_t wanted = start[c];
                    for (int i = 0; i < in; i++)
                        wanted += g[r * in + i] * q[(i / BYTE_QUAD * BYTE_COLS + c) * BYTE_QUAD + i % BYTE_QUAD];
                    assert_int_equal(sum[r * BYTE_COLS + c], wanted);
                }
        }
}

int main(void) {
    cpu_flush_denormals(); /* as the programs do */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_weights),
        cmocka_unit_test(test_leaves_out),
        cmocka_unit_test(test_differences_below_a_step),
        cmocka_unit_test(test_tight_bounds),
        cmocka_unit_test(test_odd_weights),
        cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_byte_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
