/* Samples: their frequencies are the distribution's, and they depend on the line and its number alone. */
#include "tests/support/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "model/matmul.h"
#include "tests/support/searcher.h"

enum { V = 12, DRAWS = 20000 };

/* The oracle: p_v = exp(z_v / T) / sum over the tokens that are left after top-k and top-p. */
static void distribution(double *p, const real *z, const Sampling *o) {
    bool left[V], more = true;
    double sum = 0, all = 0;
    for (int v = 0; v < V; v++) all += exp((double)z[v] / o->temperature);
    memset(left, 0, sizeof left);
    for (int kept = 0; kept < V && more; kept++) { /* take the most probable that is not taken yet */
        int best = -1;
        for (int v = 0; v < V; v++)
            if (!left[v] && isfinite(z[v]) && (best < 0 || z[v] > z[best])) best = v;
        if (best < 0) break;
        left[best] = true;
        sum += exp((double)z[best] / o->temperature);
        if (o->top_k > 0 && kept + 1 == o->top_k) all = 0; /* no more than k */
        more = all > 0 && sum < o->top_p * all;
    }
    for (int v = 0; v < V; v++) p[v] = left[v] ? exp((double)z[v] / o->temperature) / sum : 0;
}

/* Pearson's chi-square of DRAWS draws, with the bound that chance exceeds once in 10,000 times for up to 11 degrees of
 * freedom. */
static void check_frequencies(const real *z, Sampling o) {
    Arena arena;
    arena_init(&arena, "test");
    double p[V];
    int count[V] = {0};
    distribution(p, z, &o);
    for (int i = 0; i < DRAWS; i++) {
        int id = sampling_draw(z, V, &o, sampling_uniform(&o, i / 100, i % 100, 7), &arena);
        assert_in_range(id, 0, V - 1);
        count[id]++;
    }
    double chi_square = 0;
    for (int v = 0; v < V; v++) {
        double expected = p[v] * DRAWS;
        if (p[v] > 0)
            chi_square += (count[v] - expected) * (count[v] - expected) / expected;
        else
            assert_int_equal(count[v], 0);
    }
    assert_below(chi_square, 37.4);
    arena_free(&arena);
}

static void test_frequencies(void **state) {
    (void)state;
    const real z[V] = {1,         0,  (real)-INFINITY, 2, (real)1.5, -1, (real)0.25, (real)-INFINITY, 1,
                       (real)0.5, -2, (real)1.75};
    check_frequencies(z, (Sampling){true, 0, 1, 1, 5});
    check_frequencies(z, (Sampling){true, 0, 1, 0.5, 6});
    check_frequencies(z, (Sampling){true, 0, 1, 3, 7});
    check_frequencies(z, (Sampling){true, 3, 1, 1, 8});
    check_frequencies(z, (Sampling){true, 1, 1, 1, 9});
    check_frequencies(z, (Sampling){true, 50, 1, 2, 10});
    check_frequencies(z, (Sampling){true, 0, 0.6, 1, 11});
    check_frequencies(z, (Sampling){true, 0, 1e-6, 1, 12});
    real none[V];
    for (int v = 0; v < V; v++) none[v] = (real)-INFINITY;
    Arena arena;
    arena_init(&arena, "test");
    assert_int_equal(sampling_draw(none, V, &(Sampling){true, 0, 1, 1, 1}, 0.5, &arena), -1);
    arena_free(&arena);
}

/* The first tokens of many samples of one sentence follow the model's distribution without what is forbidden there. */
static void test_first_tokens(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    Batch b = searcher_sources(&s.config, 28);
    enum { SAMPLES = 500, LINES = 12 };
    static Hypothesis h[SAMPLES * LINES];
    int length = packed_length(&b.source, 1), offset[LINES + 1] = {0}, ids[LINES * 20];
    for (int i = 0; i < LINES; i++) { /* the same sentence as several lines */
        offset[i + 1] = offset[i] + length;
        memcpy(ids + offset[i], b.source_ids + b.source.offset[1], (size_t)length * sizeof(int));
    }
    s.limits.max_length = 2;
    BeamOptions options = searcher_options(SAMPLES, SAMPLES, 1);
    options.sampling = (Sampling){true, 0, 1, 1, 3};
    beam_decode(h, &s.model, 1, &(BeamSources){.ids = ids, .rows = {LINES, offset}}, &s.limits, &options, &s.m.arena);
    Batch pair = searcher_pair(&b, 1, NULL, 0);
    real z[SMALL_VOCAB];
    transformer_logits(z, &pair, &s.m.p, &s.m.positions, &s.m.arena);
    int count[SMALL_VOCAB] = {0};
    for (int i = 0; i < SAMPLES * LINES; i++) {
        assert_in_range(h[i].count, 1, 2);
        count[h[i].ids[0]]++;
        if (i % SAMPLES > 0) assert_true(h[i - 1].score >= h[i].score);
        if (i % 50 == 0) assert_near(h[i].log_p, searcher_log_p(&s, &b, 1, h[i].ids, h[i].count), 100 * TIGHT);
    }
    double sum = 0, chi_square = 0;
    for (int v = ID_FIRST_BYTE; v < SMALL_VOCAB; v++)
        if (v != SEARCHER_BANNED) sum += exp((double)z[v]);
    for (int v = 0; v < SMALL_VOCAB; v++) {
        bool allowed = v >= ID_FIRST_BYTE && v != SEARCHER_BANNED;
        double expected = allowed ? exp((double)z[v]) / sum * SAMPLES * LINES : 0;
        if (allowed)
            chi_square += (count[v] - expected) * (count[v] - expected) / expected;
        else
            assert_int_equal(count[v], 0);
    }
    assert_below(chi_square, 47.6); /* 1 in 10,000 for 17 degrees of freedom */
    searcher_free_all(h, SAMPLES * LINES);
    small_batch_free(&pair);
    small_batch_free(&b);
    searcher_free(&s);
}

/* A line's samples are the same alone and in a batch; another seed gives others; a temperature near 0 is greedy. */
static void test_samples_of_a_line(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    Batch b = searcher_sources(&s.config, 28);
    enum { K = 3 };
    static Hypothesis together[SEARCHER_SENTENCES * K], greedy[SEARCHER_SENTENCES];
    Hypothesis alone[K];
    BeamOptions options = searcher_options(K, K, 1), one = searcher_options(1, 1, 1);
    options.sampling = (Sampling){true, 8, 0.9, 1.2, 3};
    searcher_decode(together, &s, &b, &options);
    int other = 0;
    for (int64_t i = 0; i < SEARCHER_SENTENCES; i++) {
        int offset[2] = {0, packed_length(&b.source, (int)i)};
        BeamSources in = {.ids = b.source_ids + b.source.offset[i], .rows = {1, offset}, .line = &i};
        beam_decode(alone, &s.model, 1, &in, &s.limits, &options, &s.m.arena);
        for (int k = 0; k < K; k++) {
            const Hypothesis *same = &together[i * K + k];
            assert_int_equal(alone[k].count, same->count);
            assert_memory_equal(alone[k].ids, same->ids, (size_t)same->count * sizeof(int));
            assert_true(alone[k].score == same->score);
        }
        searcher_free_all(alone, K);
        options.sampling.seed = 4;
        beam_decode(alone, &s.model, 1, &in, &s.limits, &options, &s.m.arena);
        other += alone[0].score != together[i * K].score;
        options.sampling.seed = 3;
        searcher_free_all(alone, K);
    }
    assert_true(other > SEARCHER_SENTENCES / 2);
    searcher_free_all(together, SEARCHER_SENTENCES * K);

    searcher_decode(greedy, &s, &b, &one);
    one.sampling = (Sampling){true, 0, 1, 1e-6, 3};
    searcher_decode(together, &s, &b, &one);
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        assert_int_equal(together[i].count, greedy[i].count);
        assert_memory_equal(together[i].ids, greedy[i].ids, (size_t)greedy[i].count * sizeof(int));
        assert_true(together[i].log_p == greedy[i].log_p);
    }
    searcher_free_all(together, SEARCHER_SENTENCES);
    searcher_free_all(greedy, SEARCHER_SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_first_tokens),
        cmocka_unit_test(test_samples_of_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
