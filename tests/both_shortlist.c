/* The shortlist: exact where the largest logit is, whatever the weights. */
#include "tests/support/probe.h"

#include <math.h>

#include "base/memory.h"
#include "decoding/shortlist.h"

enum { MOST_IN = 128, MOST_OUT = 700 };

typedef struct Case {
    real W[MOST_OUT * MOST_IN], h[MOST_IN], exact[MOST_OUT], z[MOST_OUT];
    Linear p;
    PackedLinear packed;
    Shortlist shortlist;
    Arena arena;
} Case;

static void case_init(Case *c, int in, int out, uint64_t seed) {
    probe_random(c->W, (size_t)(in * out), seed);
    probe_random(c->h, (size_t)in, seed + 1);
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

/* Every logit is the exact one or -inf, and those as large as the largest allowed one are exact. Returns how many are. */
static int check(Case *c, int first_allowed) {
    int out = c->p.out, count = 0;
    real largest = -(real)INFINITY;
    packed_linear_forward(c->exact, c->h, &c->packed, 1);
    shortlist_logits(c->z, c->h, &c->shortlist, &c->packed, first_allowed, &c->arena);
    for (int v = first_allowed; v < out; v++) largest = c->exact[v] > largest ? c->exact[v] : largest;
    for (int v = 0; v < out; v++) {
        bool is_exact = c->z[v] == c->exact[v];
        assert_true(is_exact || c->z[v] == -(real)INFINITY);
        assert_true(is_exact || (v >= TILE_WIDE && c->exact[v] < largest));
        count += is_exact;
    }
    return count;
}

static void test_random_weights(void **state) {
    (void)state;
    static const int in[] = {1, 2, 7, 64, 128}, out[] = {1, 5, 31, 32, 33, 64, 65, 257, 700};
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 9; j++)
            for (uint64_t seed = 0; seed < 20; seed++) {
                case_init(c, in[i], out[j], 10 * seed + 1);
                case_pack(c);
                check(c, seed % 2 == 0 || out[j] <= 36 ? 0 : 36);
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
    assert_int_equal(check(c, 0), 2 * SHORTLIST_BLOCK);
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

/* Equal rows, rows of zeros, very large and very small ones. */
static void test_odd_weights(void **state) {
    (void)state;
    static const real factor[] = {0, 1, (real)1e-20, (real)1e15};
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (int f = 0; f < 4; f++)
        for (int g = 0; g < 4; g++) {
            case_init(c, 16, MOST_OUT, 7);
            for (int v = MOST_OUT - 1; v > 0; v--) /* each from a row that is still as it was */
                for (int i = 0; i < 16; i++) c->W[v * 16 + i] = c->W[(v % 300) * 16 + i] * factor[f];
            for (int i = 0; i < 16; i++) c->h[i] *= factor[g];
            case_pack(c);
            check(c, 0);
            case_free(c);
        }
    memory_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_weights),
        cmocka_unit_test(test_leaves_out),
        cmocka_unit_test(test_differences_below_a_step),
        cmocka_unit_test(test_odd_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
