/* What belongs to a hypothesis: its tokens' probabilities, its attention and coverage, its limits, and how it had to begin. */
#include "tests/support/probe.h"

#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/vec.h"
#include "model/matmul.h"
#include "tests/support/searcher.h"

/* a [m] += share of softmax_j(q . k_j / sqrt K) over the m rows of k. */
static void add_softmax(real *a, double share, const real *q, const real *k, int stride, int m, int K) {
    double e[64], sum = 0;
    for (int j = 0; j < m; j++) {
        double dot = 0;
        for (int c = 0; c < K; c++) dot += (double)q[c] * (double)k[(size_t)j * (size_t)stride + (size_t)c];
        sum += e[j] = exp(dot / sqrt((double)K));
    }
    for (int j = 0; j < m; j++) a[j] += (real)(share * e[j] / sum);
}

/* a [count+1, m] = mean over heads (or one) of the cross-attention of a layer, from the queries and keys of the full
 * forward pass. */
static void full_attention(real *a, Searcher *s, const Batch *pair, int layer, int head) {
    ArenaMark mark = arena_mark(&s->m.arena);
    TransformerActs acts;
    transformer_forward(&acts, pair, &s->m.p, &s->m.positions, NULL, &s->m.arena);
    int n = packed_rows(&pair->target), m = packed_rows(&pair->source), H = s->config.heads, K = s->config.d_k;
    HeadRows q = acts.decoder.layer[layer].encoder_attn.core.q, k = acts.decoder.layer[layer].encoder_attn.core.k;
    memset(a, 0, (size_t)(n * m) * sizeof *a);
    for (int i = 0; i < n; i++)
        for (int h = 0; h < H; h++)
            if (head < 0 || h == head)
                add_softmax(a + i * m, head < 0 ? 1.0 / H : 1, q.data + i * q.stride + h * K, k.data + h * K, k.stride,
                            m, K);
    arena_release(&s->m.arena, mark);
}

static double naive_coverage(const Hypothesis *h) {
    double sum = 0;
    for (int i = 0; i + 1 < h->source_length; i++) {
        double covered = 0;
        for (int j = 0; j <= h->count; j++) covered += (double)h->attention[j * h->source_length + i];
        sum += log(covered < 1 ? covered : 1);
    }
    return sum;
}

static void check_hypotheses(NormPlace norm, int layer, int head, double coverage_penalty, uint64_t seed) {
    enum { K = 3 };
    Searcher s;
    searcher_init(&s, small_config(norm, ACTIVATION_RELU, TIE_ALL), 1.3, seed);
    Batch b = searcher_sources(&s.config, 28);
    static Hypothesis h[SEARCHER_SENTENCES * K];
    BeamOptions options = searcher_options(5, K, 0.6);
    options.token_log_p = options.attention = true;
    options.layer = layer;
    options.head = head;
    options.coverage_penalty = coverage_penalty;
    searcher_decode(h, &s, &b, &options); /* once before, so that the arena holds old values */
    searcher_free_all(h, SEARCHER_SENTENCES * K);
    searcher_decode(h, &s, &b, &options);
    int found = 0;
    for (int i = 0; i < SEARCHER_SENTENCES * K; i++) {
        if (h[i].ids == NULL) continue;
        found++;
        double sum = 0, cp = naive_coverage(&h[i]);
        for (int t = 0; t <= h[i].count; t++) sum += h[i].token_log_p[t];
        assert_near(sum, h[i].log_p, 1e-9);
        assert_near(h[i].score, h[i].log_p / pow(h[i].count + 1.0, 0.6) + coverage_penalty * cp, 100 * TIGHT);
        if (i % K > 0) assert_true(h[i - 1].score >= h[i].score);

        Batch pair = searcher_pair(&b, i / K, h[i].ids, h[i].count);
        int n = h[i].count + 1, m = h[i].source_length;
        assert_int_equal(m, packed_length(&b.source, i / K));
        real *right = memory_alloc((size_t)(n * m), sizeof(real), "attention");
        full_attention(right, &s, &pair, layer < 0 ? s.config.decoder_layers - 1 : layer, head);
        assert_below(relative_difference(h[i].attention, right, (size_t)(n * m)), 20 * TIGHT);
        real nll[64];
        transformer_loss(nll, &pair, &s.m.p, &s.m.positions, 0, NULL, &s.m.arena);
        for (int t = 0; t < n; t++) assert_near(h[i].token_log_p[t], -nll[t], 100 * TIGHT);
        memory_free(right);
        small_batch_free(&pair);
    }
    assert_in_range(found, SEARCHER_SENTENCES, SEARCHER_SENTENCES * K);
    searcher_free_all(h, SEARCHER_SENTENCES * K);
    small_batch_free(&b);
    searcher_free(&s);
}

static void test_probabilities_and_attention(void **state) {
    (void)state;
    check_hypotheses(NORM_PRE, -1, -1, 0, 26);
    check_hypotheses(NORM_POST, 0, 1, 0, 21);
    check_hypotheses(NORM_PRE, 1, -1, 0.3, 26);
}

/* Every token and the end of a given target get the probabilities that the search gave them, to the last bit. */
static void test_forced_targets(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    Batch b = searcher_sources(&s.config, 28);
    static Hypothesis found[SEARCHER_SENTENCES], again[SEARCHER_SENTENCES];
    BeamOptions options = searcher_options(4, 1, 1);
    options.token_log_p = true;
    searcher_decode(found, &s, &b, &options);

    static int ids[SEARCHER_SENTENCES * 64], offset[SEARCHER_SENTENCES + 1];
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        memcpy(ids + offset[i], found[i].ids, (size_t)found[i].count * sizeof(int));
        offset[i + 1] = offset[i] + found[i].count;
    }
    BeamSources in = {b.source_ids, b.source, ids, {SEARCHER_SENTENCES, offset}, NULL, true};
    options.beam_size = 1;
    beam_decode(again, &s.model, 1, &in, &s.limits, &options, &s.m.arena);
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        assert_int_equal(again[i].count, found[i].count);
        assert_memory_equal(again[i].ids, found[i].ids, (size_t)found[i].count * sizeof(int));
        assert_memory_equal(again[i].token_log_p, found[i].token_log_p, (size_t)(found[i].count + 1) * sizeof(double));
        assert_true(again[i].log_p == found[i].log_p && again[i].score == found[i].score);
    }
    searcher_free_all(again, SEARCHER_SENTENCES);

    /* Targets that no search would give: empty, too long, of ids that are never emitted. */
    Rng rng = {3};
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        int count = i % 5 == 0 ? 0 : (int)rng_below(&rng, 60);
        offset[i + 1] = offset[i] + count;
        for (int t = offset[i]; t < offset[i + 1]; t++) ids[t] = (int)rng_below(&rng, SMALL_VOCAB);
    }
    beam_decode(again, &s.model, 1, &in, &s.limits, &options, &s.m.arena);
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        assert_int_equal(again[i].count, offset[i + 1] - offset[i]);
        assert_memory_equal(again[i].ids, ids + offset[i], (size_t)again[i].count * sizeof(int));
        double log_p = searcher_log_p(&s, &b, i, ids + offset[i], again[i].count);
        assert_below(fabs(again[i].log_p - log_p) / fabs(log_p), 10 * TIGHT);
    }
    searcher_free_all(again, SEARCHER_SENTENCES);

    /* As a beginning: it is kept, something follows where there is room, and the rest is searched. */
    in.complete = false;
    options.beam_size = 4;
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        offset[i + 1] = offset[i] + (i % 8 == 7 ? 45 : i % 4); /* some longer than the limit allows */
        for (int t = offset[i]; t < offset[i + 1]; t++) ids[t] = 6 + (int)rng_below(&rng, SMALL_VOCAB - 6);
    }
    beam_decode(again, &s.model, 1, &in, &s.limits, &options, &s.m.arena);
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        int begins = offset[i + 1] - offset[i];
        int most = limits_most_tokens(&s.limits, packed_length(&b.source, i));
        assert_in_range(again[i].count, begins > 0 ? begins : 1, begins > most ? begins : most);
        assert_memory_equal(again[i].ids, ids + offset[i], (size_t)begins * sizeof(int));
        double log_p = searcher_log_p(&s, &b, i, again[i].ids, again[i].count);
        assert_near(again[i].log_p, log_p, 100 * TIGHT);
        if (begins == 0) assert_true(again[i].score == found[i].score);
    }
    searcher_free_all(again, SEARCHER_SENTENCES);
    searcher_free_all(found, SEARCHER_SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

static void test_limits(void **state) {
    (void)state;
    const DecodeLimits l = {.max_length_factor = 1.5, .max_length_extra = 2};
    assert_int_equal(limits_most_tokens(&l, 5), 9);
    assert_int_equal(limits_most_tokens(&(DecodeLimits){.max_length_factor = 2, .max_length = 7}, 5), 7);
    assert_int_equal(limits_most_tokens(&(DecodeLimits){.max_length_factor = 0.01}, 5), 1);
    assert_int_equal(limits_most_tokens(&(DecodeLimits){.max_length_factor = 1000}, 2000000000), 1000000);
    int count, *banned = limits_banned(10, &count);
    assert_int_equal(count, 3 + 6);
    memory_free(banned);
    banned = limits_banned(1000, &count);
    assert_int_equal(count, 3 + 32);
    assert_int_equal(banned[count - 1], ID_FIRST_BYTE + 0x1F);
    memory_free(banned);
}

static bool holds_twice(const int *ids, int count, int n) {
    for (int i = 0; i + n <= count; i++)
        for (int j = i + 1; j + n <= count; j++)
            if (memcmp(ids + i, ids + j, (size_t)n * sizeof *ids) == 0) return true;
    return false;
}

/* z [V] is -inf exactly where the token would make an n-gram stand twice, or end the target too early; but where that would
 * leave nothing, it may end. */
static void test_repetitions(void **state) {
    (void)state;
    enum { V = 4, MOST = 7 };
    Rng rng = {9};
    int stuck = 0;
    for (int round = 0; round < 3000; round++) {
        int ids[MOST + 1], count = (int)rng_below(&rng, MOST), n = 1 + (int)rng_below(&rng, 4);
        for (int i = 0; i < count; i++) ids[i] = (int)rng_below(&rng, V);
        if (holds_twice(ids, count, n)) continue;
        DecodeLimits limits = {.no_repeat_ngram = n, .min_length = 3};
        real z[V] = {0};
        limits_apply(z, V, &limits, ids, count);
        bool forbidden[V], nothing = true;
        for (int v = 0; v < V; v++) {
            ids[count] = v;
            forbidden[v] = holds_twice(ids, count + 1, n) || (v == ID_EOS && count < 3);
            nothing = nothing && forbidden[v];
        }
        if (nothing && count > 0) forbidden[ID_EOS] = false;
        stuck += nothing;
        for (int v = 0; v < V; v++) assert_int_equal(z[v] < 0, forbidden[v]);
    }
    assert_true(stuck > 5);
}

/* The search keeps to them, and still gives true probabilities. */
static void test_limited_search(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    Batch b = searcher_sources(&s.config, 28);
    static Hypothesis free_ones[SEARCHER_SENTENCES], h[SEARCHER_SENTENCES];
    BeamOptions options = searcher_options(3, 1, 1);
    searcher_decode(free_ones, &s, &b, &options);
    s.limits.no_repeat_ngram = 2;
    s.limits.min_length = 4;
    s.limits.max_length = 9;
    searcher_decode(h, &s, &b, &options);
    int repetitive = 0, brief = 0, lengthy = 0;
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        repetitive += holds_twice(free_ones[i].ids, free_ones[i].count, 2);
        brief += free_ones[i].count < 4;
        lengthy += free_ones[i].count > 9;
        assert_false(holds_twice(h[i].ids, h[i].count, 2));
        assert_in_range(h[i].count, 4, 9);
        assert_near(h[i].log_p, searcher_log_p(&s, &b, i, h[i].ids, h[i].count), 100 * TIGHT);
    }
    assert_true(repetitive > 5 && brief > 5 && lengthy > 5);
    searcher_free_all(free_ones, SEARCHER_SENTENCES);
    searcher_free_all(h, SEARCHER_SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

/* Where nothing is allowed nothing is found, and the other sentences do not suffer. */
static void test_nothing_allowed(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    Batch b = searcher_sources(&s.config, 28);
    static Hypothesis h[SEARCHER_SENTENCES];
    int all[SMALL_VOCAB], word = 7, offset[SEARCHER_SENTENCES + 1] = {0};
    for (int v = 0; v < SMALL_VOCAB; v++) all[v] = v;
    for (int i = 1; i <= SEARCHER_SENTENCES; i++) offset[i] = i > 3; /* the fourth sentence has to begin with a word */
    s.limits.banned = all;
    s.limits.banned_count = SMALL_VOCAB;
    s.limits.max_length = 1;
    BeamOptions options = searcher_options(3, 1, 1);
    BeamSources in = {b.source_ids, b.source, &word, {SEARCHER_SENTENCES, offset}, NULL, false};
    beam_decode(h, &s.model, 1, &in, &s.limits, &options, &s.m.arena);
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        if (i == 3) {
            assert_true(h[i].count == 1 && h[i].ids[0] == word && isfinite(h[i].score));
        } else {
            assert_null(h[i].ids);
            assert_true(isinf(h[i].score) && h[i].score < 0 && h[i].log_p < 0);
        }
    }
    searcher_free_all(h, SEARCHER_SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

/* A model with itself decides as it does alone; with another, log p is the mean of both. */
static void test_ensemble(void **state) {
    (void)state;
    Searcher s, other;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    searcher_init(&other, small_config(NORM_POST, ACTIVATION_GELU, TIE_ALL), 1.3, 21);
    Batch b = searcher_sources(&s.config, 28);
    static Hypothesis alone[SEARCHER_SENTENCES], together[SEARCHER_SENTENCES];
    BeamOptions options = searcher_options(4, 1, 1);
    BeamSources in = {.ids = b.source_ids, .rows = b.source};
    searcher_decode(alone, &s, &b, &options);
    StepModel twice[2] = {s.model, s.model}, both[2] = {s.model, other.model};
    beam_decode(together, twice, 2, &in, &s.limits, &options, &s.m.arena);
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        assert_int_equal(together[i].count, alone[i].count);
        assert_memory_equal(together[i].ids, alone[i].ids, (size_t)alone[i].count * sizeof(int));
        assert_near(together[i].log_p, alone[i].log_p, 100 * TIGHT);
    }
    searcher_free_all(together, SEARCHER_SENTENCES);
    beam_decode(together, both, 2, &in, &s.limits, &options, &s.m.arena);
    int changed = 0;
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        const int *ids = together[i].ids, count = together[i].count;
        double mean = (searcher_log_p(&s, &b, i, ids, count) + searcher_log_p(&other, &b, i, ids, count)) / 2;
        assert_near(together[i].log_p, mean, 100 * TIGHT);
        changed += count != alone[i].count || memcmp(ids, alone[i].ids, (size_t)count * sizeof(int)) != 0;
    }
    assert_true(changed > 10);
    searcher_free_all(together, SEARCHER_SENTENCES);
    searcher_free_all(alone, SEARCHER_SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
    searcher_free(&other);
}

/* Attention of 0, to source tokens that the target passes over, leaves scores that can be compared. */
static void test_coverage_of_nothing(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 4);
    Linear *q = &s.m.p.decoder.layer[s.config.decoder_layers - 1].encoder_attn.q_proj;
    vec_scale(q->W, REAL_IS_DOUBLE ? (real)1e5 : (real)1e3, q->in * q->out);
    step_model_free(&s.model);
    step_model_init(&s.model, &s.m.p, &s.m.positions);
    Batch b = searcher_sources(&s.config, 28);
    static Hypothesis h[SEARCHER_SENTENCES];
    BeamOptions options = searcher_options(5, 1, 1);
    options.attention = true;
    options.coverage_penalty = 0.2;
    searcher_decode(h, &s, &b, &options);
    int zeros = 0;
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        assert_true(isfinite(h[i].score));
        for (int j = 0; j < (h[i].count + 1) * h[i].source_length; j++) zeros += h[i].attention[j] == 0;
    }
    assert_true(zeros > 0);
    searcher_free_all(h, SEARCHER_SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

int main(void) {
    cpu_flush_denormals(); /* as the programs do */
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities_and_attention),
        cmocka_unit_test(test_forced_targets),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_repetitions),
        cmocka_unit_test(test_limited_search),
        cmocka_unit_test(test_ensemble),
        cmocka_unit_test(test_nothing_allowed),
        cmocka_unit_test(test_coverage_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
