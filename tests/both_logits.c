/* Logits by blocks of classes: the layer's own bits, the normalizer of the definition, and the best candidates. */
#include "tests/support/probe.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "decoding/candidates.h"

enum { ROWS = 9, IN = 5, MOST_V = 1000, MOST_BEST = 40 };

typedef struct Case {
    real W[MOST_V * IN], h[ROWS * IN], expected[ROWS * MOST_V];
    Linear p;
    PackedLinear packed;
    Arena arena;
    Logits logits;
} Case;

static void case_init(Case *c, int V, real scale, uint64_t seed) {
    probe_random(c->W, (size_t)(V * IN), seed);
    probe_random(c->h, ROWS * IN, seed + 1);
    for (int i = 0; i < ROWS * IN; i++) c->h[i] *= scale;
    c->p = (Linear){.in = IN, .out = V, .W = c->W};
    packed_linear_init(&c->packed, &c->p);
    arena_init(&c->arena, "test");
    c->logits = logits_new(ROWS, V, true, &c->arena);
    logits_forward(&c->logits, c->h, &c->packed, ROWS, &c->arena);
    packed_linear_forward(c->expected, c->h, &c->packed, ROWS);
}

static void case_free(Case *c) {
    packed_linear_free(&c->packed);
    arena_free(&c->arena);
}

static const int V_OF[] = {1, 2, 31, 33, 255, 256, 257, 511, 700, 1000};

static double normalizer(const real *z, int V) {
    double M = (double)-INFINITY, sum = 0;
    for (int v = 0; v < V; v++) M = fmax(M, (double)z[v]);
    for (int v = 0; v < V; v++) sum += exp((double)z[v] - M);
    return M + log(sum);
}

/* scale 400: far apart, so that whole blocks count for nothing */
static void test_forward(void **state) {
    (void)state;
    Case *c = memory_alloc(1, sizeof *c, "test");
    for (int i = 0; i < 10; i++)
        for (int scale = 1; scale <= 400; scale *= 20) {
            int V = V_OF[i];
            case_init(c, V, (real)scale, 7 + (uint64_t)i);
            assert_memory_equal(c->logits.z, c->expected, (size_t)(ROWS * V) * sizeof(real));
            for (int r = 0; r < ROWS; r++) {
                double expected = normalizer(c->expected + r * V, V);
                assert_below(fabs(logits_normalizer(&c->logits, r) - expected) / fmax(1, fabs(expected)), 2e-6);
            }
            case_free(c);
        }
    memory_free(c);
}

/* The oracle: sort all. */
static int best_first(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    if (x->sum != y->sum) return x->sum > y->sum ? -1 : 1;
    return x->row != y->row ? x->row - y->row : x->id - y->id;
}

static void check_candidates(const Logits *logits, int rows, int most) {
    static const double base[] = {-1.5, -1.75, -3.1};
    Candidate *all = memory_alloc((size_t)(rows * logits->V), sizeof *all, "all"), best[MOST_BEST];
    Candidates c = {best, 0, most};
    int count = 0;
    for (int r = 0; r < rows; r++) {
        candidates_add_row(&c, logits, base[r], r);
        for (int v = 0; v < logits->V; v++) {
            real z = logits_row(logits, r)[v];
            if (isfinite(z)) all[count++] = (Candidate){base[r] + (double)z, r, v};
        }
    }
    qsort(all, (size_t)count, sizeof *all, best_first);
    assert_int_equal(c.count, count < most ? count : most);
    for (int i = 0; i < c.count; i++) {
        assert_true(best[i].sum == all[i].sum);
        assert_int_equal(best[i].row, all[i].row);
        assert_int_equal(best[i].id, all[i].id);
    }
    memory_free(all);
}

/* Many are equal and some impossible; then some of the best are forbidden, which the bounds of blocks do not know. */
static void test_candidates(void **state) {
    (void)state;
    enum { CANDIDATE_ROWS = 3 };
    Arena arena;
    arena_init(&arena, "test");
    Rng rng = {5};
    for (int i = 0; i < 10; i++)
        for (int most = 0; most <= MOST_BEST; most += 1 + most / 2) {
            Logits logits = logits_new(CANDIDATE_ROWS, V_OF[i], false, &arena);
            for (int r = 0; r < CANDIDATE_ROWS; r++) {
                for (int v = 0; v < V_OF[i]; v++)
                    logits_row(&logits, r)[v] =
                        rng_below(&rng, 9) == 0 ? -(real)INFINITY : (real)(rng_below(&rng, 400)) / 64;
                logits_find_largest(&logits, r);
            }
            check_candidates(&logits, CANDIDATE_ROWS, most);
            for (int r = 0; r < CANDIDATE_ROWS; r++)
                for (int v = 0; v < V_OF[i]; v++)
                    if (logits_row(&logits, r)[v] > 5) logits_row(&logits, r)[v] = -(real)INFINITY;
            check_candidates(&logits, CANDIDATE_ROWS, most);
        }
    arena_free(&arena);
}

/* What has to be exceeded is no float: the next float below it is, and hides none that is larger. */
static void test_threshold_between_floats(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, "test");
    Candidate best[1];
    Candidates c = {best, 0, 1};
    Logits logits = logits_new(1, 1, false, &arena);
    logits_row(&logits, 0)[0] = 1;
    logits_find_largest(&logits, 0);
    candidates_add(&c, 1.25 - 1e-12, 0, 7);
    candidates_add_row(&c, &logits, 0.25, 0);
    assert_int_equal(best[0].id, 0);
    assert_true(best[0].sum == 1.25);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_threshold_between_floats),
    };
    return cmocka_run_group_tests_name("logits", tests, NULL, NULL);
}
