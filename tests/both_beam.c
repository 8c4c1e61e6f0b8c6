/* Beam search: against exhaustive search, against greedy search, and the same bits in any batch and on any thread. */
#include "tests/support/probe.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/matmul.h"
#include "tests/support/searcher.h"

enum { WORDS = 3, LONGEST = 5, SPACE = 3 + 9 + 27 + 81 + 243 };

/* All sequences of 1 .. LONGEST words with their scores, by counting in base WORDS. */
static void search_exhaustively(Hypothesis *out, Searcher *s, const Batch *b, double A) {
    int n = 0;
    for (int count = 1, all = WORDS; count <= LONGEST; count++, all *= WORDS)
        for (int number = 0; number < all; number++) {
            Hypothesis *h = &out[n++];
            *h = (Hypothesis){.ids = memory_alloc(LONGEST, sizeof(int), "ids"), .count = count};
            for (int i = 0, rest = number; i < count; i++, rest /= WORDS) h->ids[i] = ID_FIRST_BYTE + rest % WORDS;
            h->log_p = searcher_log_p(s, b, 0, h->ids, count);
            h->score = h->log_p / pow(count + 1.0, A);
        }
}

static int by_score(const void *a, const void *b) {
    double x = ((const Hypothesis *)a)->score, y = ((const Hypothesis *)b)->score;
    return x > y ? -1 : x < y;
}

/* A beam as wide as the space finds all there is, in the right order; with a smaller n_best the search may end early,
 * but with the same first ones. */
static void check_against_exhaustive(double A, uint64_t seed) {
    Searcher s;
    ModelConfig config = small_config(NORM_PRE, ACTIVATION_RELU, TIE_NONE);
    config.target_vocab = ID_FIRST_BYTE + WORDS;
    searcher_init(&s, config, 1.5, seed);
    const int length = 6;
    Batch batch = small_batch(&config, 1, &length, &length, seed);
    static Hypothesis right[SPACE], found[SPACE];
    search_exhaustively(right, &s, &batch, A);
    qsort(right, SPACE, sizeof *right, by_score);
    s.limits.max_length_factor = 0;
    s.limits.max_length_extra = LONGEST;
    s.limits.banned_count = 3; /* all words are allowed */
    const int wanted[] = {SPACE, 10, 1};
    for (int w = 0; w < 3; w++) {
        BeamOptions options = searcher_options(SPACE, wanted[w], A);
        searcher_decode(found, &s, &batch, &options);
        for (int i = 0; i < wanted[w]; i++) {
            assert_non_null(found[i].ids);
            assert_near(found[i].score, right[i].score, 10 * TIGHT);
            assert_near(found[i].log_p, searcher_log_p(&s, &batch, 0, found[i].ids, found[i].count), 10 * TIGHT);
            if (i > 0) assert_true(found[i - 1].score >= found[i].score);
        }
        assert_int_equal(found[0].count, right[0].count);
        assert_memory_equal(found[0].ids, right[0].ids, (size_t)right[0].count * sizeof(int));
        searcher_free_all(found, wanted[w]);
    }
    searcher_free_all(right, SPACE);
    small_batch_free(&batch);
    searcher_free(&s);
}

static void test_exhaustive(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_against_exhaustive(0, seed);
        check_against_exhaustive(1, seed);
        check_against_exhaustive(2.5, seed);
    }
}

static void assert_same_bits(const Hypothesis *a, const Hypothesis *b, int count) {
    for (int i = 0; i < count; i++) {
        assert_int_equal(a[i].ids == NULL, b[i].ids == NULL);
        if (a[i].ids == NULL) continue;
        assert_int_equal(a[i].count, b[i].count);
        assert_memory_equal(a[i].ids, b[i].ids, (size_t)a[i].count * sizeof(int));
        assert_memory_equal(&a[i].log_p, &b[i].log_p, sizeof(double));
        assert_memory_equal(&a[i].score, &b[i].score, sizeof(double));
    }
}

/* Decodes batch by batch; batches go to threads. */
static void decode_in_batches(Hypothesis *out, const Searcher *s, const Batch *b, int size, int threads,
                              const BeamOptions *options) {
    Arena *arena = arenas_new(threads, "test");
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int first = 0; first < SEARCHER_SENTENCES; first += size) {
        int offset[SEARCHER_SENTENCES + 1],
            count = SEARCHER_SENTENCES - first < size ? SEARCHER_SENTENCES - first : size;
        for (int i = 0; i <= count; i++) offset[i] = b->source.offset[first + i] - b->source.offset[first];
        BeamSources in = {.ids = b->source_ids + b->source.offset[first], .rows = {count, offset}};
        beam_decode(out + first * options->n_best, &s->model, 1, &in, &s->limits, options,
                    &arena[omp_get_thread_num()]);
    }
    arenas_free(arena, threads);
}

/* At random weights any two near-equal scores would show a difference of bits as a different translation. */
static void test_batches_and_threads(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 6);
    Batch b = searcher_sources(&s.config, 8);
    enum { K = 4 };
    static Hypothesis alone[SEARCHER_SENTENCES * K], other[SEARCHER_SENTENCES * K];
    const BeamOptions options[] = {searcher_options(5, K, 1), searcher_options(1, 1, 1), searcher_options(12, 3, 0)};
    for (int o = 0; o < 3; o++) {
        int K_o = options[o].n_best;
        decode_in_batches(alone, &s, &b, 1, 1, &options[o]);
        for (int i = 0; i < SEARCHER_SENTENCES * K_o; i++) {
            int most = (int)(1.5 * packed_length(&b.source, i / K_o)) + 6;
            if (alone[i].ids == NULL) continue;
            assert_in_range(alone[i].count, 1, most);
            for (int j = 0; j < alone[i].count; j++)
                assert_true(alone[i].ids[j] > ID_UNK && alone[i].ids[j] != SEARCHER_BANNED);
        }
        const int size[] = {1, 7, 64}, threads[] = {4, 3, 2};
        for (int k = 0; k < 3; k++) {
            decode_in_batches(other, &s, &b, size[k], threads[k], &options[o]);
            assert_same_bits(alone, other, SEARCHER_SENTENCES * K_o);
            searcher_free_all(other, SEARCHER_SENTENCES * K_o);
        }
        searcher_free_all(alone, SEARCHER_SENTENCES * K_o);
    }
    small_batch_free(&b);
    searcher_free(&s);
}

/* Greedy search, one sentence at a time: always the most probable token that is allowed. */
static int search_greedily(int *ids, Searcher *s, const int *source_ids, int length) {
    ArenaMark mark = arena_mark(&s->m.arena);
    int offset[2] = {0, length}, slot = 0, count = 0, most = limits_most_tokens(&s->limits, length);
    StepCache cache = step_begin(&s->model, source_ids, (Packed){1, offset}, 1, most, &s->m.arena);
    StepToken token = {.id = ID_BOS};
    while (count < most) {
        Logits logits = logits_new(1, SMALL_VOCAB, false, &s->m.arena);
        step_forward(&logits, &cache, &s->model, &(StepRows){1, &slot, &token}, &s->m.arena);
        const real *z = logits_row(&logits, 0);
        int best = -1;
        for (int v = 0; v < SMALL_VOCAB; v++) {
            bool allowed =
                v != ID_BOS && v != ID_PAD && v != ID_UNK && v != SEARCHER_BANNED && (v != ID_EOS || count > 0);
            if (allowed && (best < 0 || z[v] > z[best])) best = v;
        }
        if (best == ID_EOS) break;
        ids[count++] = token.id = best;
    }
    arena_release(&s->m.arena, mark);
    return count;
}

static void test_beam_of_one_is_greedy(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_POST, ACTIVATION_GELU, TIE_DECODER), 1.3, 21);
    Batch b = searcher_sources(&s.config, 18);
    static Hypothesis beam[SEARCHER_SENTENCES];
    int ended = 0;
    for (int scores = 0; scores < 2; scores++) {
        BeamOptions options = searcher_options(1, 1, 1);
        options.scores = scores == 1;
        searcher_decode(beam, &s, &b, &options);
        for (int i = 0; i < SEARCHER_SENTENCES; i++) {
            const int *source = b.source_ids + b.source.offset[i];
            int greedy[64], length = packed_length(&b.source, i), count = search_greedily(greedy, &s, source, length);
            assert_int_equal(beam[i].count, count);
            assert_memory_equal(beam[i].ids, greedy, (size_t)count * sizeof(int));
            double log_p = searcher_log_p(&s, &b, i, beam[i].ids, beam[i].count);
            assert_near(beam[i].log_p, scores ? log_p : 0, 100 * TIGHT);
            ended += count < limits_most_tokens(&s.limits, length);
        }
        searcher_free_all(beam, SEARCHER_SENTENCES);
    }
    assert_in_range(ended, 10, 2 * SEARCHER_SENTENCES - 10); /* by </s>; the others by the limit */
    small_batch_free(&b);
    searcher_free(&s);
}

/* Sorted, no two alike, scores as defined, and never worse than greedy where the beam is wide. */
static void test_n_best(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    Batch b = searcher_sources(&s.config, 28);
    enum { K = 6 };
    static Hypothesis h[SEARCHER_SENTENCES * K], first[SEARCHER_SENTENCES];
    BeamOptions options = searcher_options(K, K, 0.7), one = searcher_options(K, 1, 0.7);
    searcher_decode(h, &s, &b, &options);
    searcher_decode(first, &s, &b, &one);
    for (int i = 0; i < SEARCHER_SENTENCES; i++) {
        const Hypothesis *h_i = h + i * K;
        assert_same_bits(h_i, &first[i], 1); /* ending early changes nothing */
        for (int k = 0; k < K; k++) {
            assert_non_null(h_i[k].ids);
            assert_near(h_i[k].score, h_i[k].log_p / pow(h_i[k].count + 1.0, 0.7), 1e-12);
            if (k > 0) assert_true(h_i[k - 1].score >= h_i[k].score);
            for (int l = 0; l < k; l++)
                assert_false(h_i[l].count == h_i[k].count &&
                             memcmp(h_i[l].ids, h_i[k].ids, (size_t)h_i[k].count * sizeof(int)) == 0);
            assert_near(h_i[k].log_p, searcher_log_p(&s, &b, i, h_i[k].ids, h_i[k].count), 100 * TIGHT);
        }
    }
    searcher_free_all(h, SEARCHER_SENTENCES * K);
    searcher_free_all(first, SEARCHER_SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_batches_and_threads),
        cmocka_unit_test(test_beam_of_one_is_greedy),
        cmocka_unit_test(test_n_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
