/* Beam search: against exhaustive search, against greedy search, and the same bits in any batch and on any thread. */
#include "tests/support/probe.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "decoding/beam.h"
#include "decoding/candidates.h"
#include "model/matmul.h"
#include "tests/support/small_model.h"

static const double TIGHT = REAL_IS_DOUBLE ? 1e-11 : 2e-5;

/* The oracle: sort all. */
static int best_first(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    if (x->sum != y->sum) return x->sum > y->sum ? -1 : 1;
    return x->row != y->row ? x->row - y->row : x->id - y->id;
}

static void test_candidates(void **state) {
    (void)state;
    enum { ROWS = 3, V = 1000, MOST = 40 };
    static real z[ROWS][V];
    static Candidate all[ROWS * V];
    Rng rng = {5};
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < V; v++) /* coarse, so that many are equal */
            z[r][v] = rng_below(&rng, 9) == 0 ? (real)-INFINITY : (real)(rng_below(&rng, 400)) / 64;
    const double base[ROWS] = {-1.5, -1.75, -3.1};
    for (int v_size = 1; v_size <= V; v_size = v_size * 3 + 1)
        for (int most = 0; most <= MOST; most += 1 + most / 2) {
            Candidate best[MOST];
            Candidates c = {best, 0, most};
            int count = 0;
            for (int r = 0; r < ROWS; r++) {
                candidates_add_row(&c, z[r], base[r], r, v_size);
                for (int v = 0; v < v_size; v++)
                    if (isfinite(z[r][v])) all[count++] = (Candidate){base[r] + (double)z[r][v], r, v};
            }
            qsort(all, (size_t)count, sizeof *all, best_first);
            assert_int_equal(c.count, count < most ? count : most);
            for (int i = 0; i < c.count; i++) {
                assert_true(best[i].sum == all[i].sum);
                assert_int_equal(best[i].row, all[i].row);
                assert_int_equal(best[i].id, all[i].id);
            }
        }
    double sum = 0;
    for (int v = 0; v < V; v++) sum += exp((double)z[0][v]);
    assert_near(log_normalizer(z[0], V), log(sum), TIGHT);
}

/* A model with all that a search of it needs. */
typedef struct Searcher {
    ModelConfig config;
    SmallModel m;
    StepModel model;
    uint8_t banned[SMALL_VOCAB];
} Searcher;

/* Weights spread for more decided distributions, above all about </s>: else most hypotheses would never end. */
static void searcher_init(Searcher *s, ModelConfig config, double spread, uint64_t seed) {
    *s = (Searcher){.config = config, .banned = {1, 1, 0, 1}};
    small_model_init(&s->m, &config, seed);
    small_model_stir(&s->m, seed + 1);
    size_t size = s->m.table.total;
    for (size_t i = 0; i < size; i++) s->m.parameters[i] *= (real)spread;
    real *end = s->m.p.output.W + ID_EOS * config.decoder_width;
    for (int d = 0; d < config.decoder_width; d++) end[d] *= 3;
    step_model_init(&s->model, &s->m.p, &s->m.positions);
}

static void searcher_free(Searcher *s) {
    step_model_free(&s->model);
    small_model_free(&s->m);
}

/* log P(ids </s>) of a source, by the full forward pass. */
static double full_log_p(Searcher *s, const int *source_ids, int source_length, const int *ids, int count) {
    int in[64] = {ID_BOS}, out[64], source_offset[2] = {0, source_length}, target_offset[2] = {0, count + 1};
    memcpy(in + 1, ids, (size_t)count * sizeof(int));
    memcpy(out, ids, (size_t)count * sizeof(int));
    out[count] = ID_EOS;
    int *source = memory_alloc((size_t)source_length, sizeof(int), "source");
    memcpy(source, source_ids, (size_t)source_length * sizeof(int));
    int64_t index = 0;
    Batch b = {{1, source_offset}, {1, target_offset}, source, in, out, &index};
    double nll = transformer_loss(NULL, &b, &s->m.p, &s->m.positions, 0, NULL, &s->m.arena).nll;
    memory_free(source);
    return -nll;
}

static void free_all(Hypothesis *h, int count) {
    for (int i = 0; i < count; i++) memory_free(h[i].ids);
}

enum { WORDS = 3, LONGEST = 5, SPACE = 3 + 9 + 27 + 81 + 243 };

/* All sequences of 1 .. LONGEST words with their scores, by counting in base WORDS. */
static void search_exhaustively(Hypothesis *out, Searcher *s, const int *source_ids, int length, double A) {
    int n = 0;
    for (int count = 1, all = WORDS; count <= LONGEST; count++, all *= WORDS)
        for (int number = 0; number < all; number++) {
            Hypothesis *h = &out[n++];
            *h = (Hypothesis){memory_alloc(LONGEST, sizeof(int), "ids"), count, 0, 0};
            for (int i = 0, rest = number; i < count; i++, rest /= WORDS) h->ids[i] = ID_FIRST_BYTE + rest % WORDS;
            h->log_p = full_log_p(s, source_ids, length, h->ids, count);
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
    search_exhaustively(right, &s, batch.source_ids, length, A);
    qsort(right, SPACE, sizeof *right, by_score);
    DecodeLimits limits = {0, LONGEST, s.banned};
    const int wanted[] = {SPACE, 10, 1};
    for (int w = 0; w < 3; w++) {
        BeamOptions options = {SPACE, wanted[w], A, true};
        beam_decode(found, &s.model, batch.source_ids, batch.source, &limits, &options, &s.m.arena);
        for (int i = 0; i < wanted[w]; i++) {
            assert_non_null(found[i].ids);
            assert_near(found[i].score, right[i].score, 10 * TIGHT);
            assert_near(found[i].log_p, full_log_p(&s, batch.source_ids, length, found[i].ids, found[i].count),
                        10 * TIGHT);
            if (i > 0) assert_true(found[i - 1].score >= found[i].score);
        }
        assert_int_equal(found[0].count, right[0].count);
        assert_memory_equal(found[0].ids, right[0].ids, (size_t)right[0].count * sizeof(int));
        free_all(found, wanted[w]);
    }
    free_all(right, SPACE);
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

enum { SENTENCES = 64 };

static Batch many_sources(const ModelConfig *config, uint64_t seed) {
    int length[SENTENCES];
    Rng rng = {seed};
    for (int s = 0; s < SENTENCES; s++) length[s] = 1 + (int)rng_below(&rng, 20);
    return small_batch(config, SENTENCES, length, length, seed);
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
                              const DecodeLimits *limits, const BeamOptions *options) {
    Arena *arena = arenas_new(threads, "test");
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int first = 0; first < SENTENCES; first += size) {
        int offset[SENTENCES + 1], count = SENTENCES - first < size ? SENTENCES - first : size;
        for (int i = 0; i <= count; i++) offset[i] = b->source.offset[first + i] - b->source.offset[first];
        beam_decode(out + first * options->n_best, &s->model, b->source_ids + b->source.offset[first],
                    (Packed){count, offset}, limits, options, &arena[omp_get_thread_num()]);
    }
    arenas_free(arena, threads);
}

/* At random weights any two near-equal scores would show a difference of bits as a different translation. */
static void test_batches_and_threads(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 6);
    s.banned[5] = 1;
    Batch b = many_sources(&s.config, 8);
    enum { K = 4 };
    static Hypothesis alone[SENTENCES * K], other[SENTENCES * K];
    DecodeLimits limits = {1.5, 6, s.banned};
    const BeamOptions options[] = {{5, K, 1, true}, {1, 1, 1, true}, {12, 3, 0, true}};
    for (int o = 0; o < 3; o++) {
        int K_o = options[o].n_best;
        decode_in_batches(alone, &s, &b, 1, 1, &limits, &options[o]);
        for (int i = 0; i < SENTENCES * K_o; i++) {
            int most = (int)(1.5 * packed_length(&b.source, i / K_o)) + 6;
            if (alone[i].ids == NULL) continue;
            assert_in_range(alone[i].count, 1, most);
            for (int j = 0; j < alone[i].count; j++)
                assert_false(s.banned[alone[i].ids[j]] || alone[i].ids[j] == ID_EOS);
        }
        const int size[] = {1, 7, 64}, threads[] = {4, 3, 2};
        for (int k = 0; k < 3; k++) {
            decode_in_batches(other, &s, &b, size[k], threads[k], &limits, &options[o]);
            assert_same_bits(alone, other, SENTENCES * K_o);
            free_all(other, SENTENCES * K_o);
        }
        free_all(alone, SENTENCES * K_o);
    }
    small_batch_free(&b);
    searcher_free(&s);
}

static void test_beam_of_one_is_greedy(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_POST, ACTIVATION_GELU, TIE_DECODER), 1.3, 21);
    Batch b = many_sources(&s.config, 18);
    static Hypothesis greedy[SENTENCES], beam[SENTENCES];
    DecodeLimits limits = {1.5, 6, s.banned};
    greedy_decode(greedy, &s.model, b.source_ids, b.source, &limits, &s.m.arena);
    int short_ones = 0;
    for (int scores = 0; scores < 2; scores++) {
        BeamOptions options = {1, 1, 1, scores == 1};
        beam_decode(beam, &s.model, b.source_ids, b.source, &limits, &options, &s.m.arena);
        for (int i = 0; i < SENTENCES; i++) {
            assert_int_equal(beam[i].count, greedy[i].count);
            assert_memory_equal(beam[i].ids, greedy[i].ids, (size_t)greedy[i].count * sizeof(int));
            double log_p = full_log_p(&s, b.source_ids + b.source.offset[i], packed_length(&b.source, i), beam[i].ids,
                                      beam[i].count);
            assert_near(beam[i].log_p, scores ? log_p : 0, 100 * TIGHT);
            short_ones += beam[i].count < decode_most_tokens(&limits, packed_length(&b.source, i));
        }
        free_all(beam, SENTENCES);
    }
    assert_in_range(short_ones, 10, 2 * SENTENCES); /* most of them end by </s> */
    free_all(greedy, SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

/* Sorted, no two alike, scores as defined, and never worse than greedy where the beam is wide. */
static void test_n_best(void **state) {
    (void)state;
    Searcher s;
    searcher_init(&s, small_config(NORM_PRE, ACTIVATION_RELU, TIE_ALL), 1.3, 26);
    Batch b = many_sources(&s.config, 28);
    enum { K = 6 };
    static Hypothesis h[SENTENCES * K], first[SENTENCES];
    DecodeLimits limits = {1, 8, s.banned};
    BeamOptions options = {K, K, 0.7, true}, one = {K, 1, 0.7, true};
    beam_decode(h, &s.model, b.source_ids, b.source, &limits, &options, &s.m.arena);
    beam_decode(first, &s.model, b.source_ids, b.source, &limits, &one, &s.m.arena);
    for (int i = 0; i < SENTENCES; i++) {
        const Hypothesis *h_i = h + i * K;
        assert_same_bits(h_i, &first[i], 1); /* ending early changes nothing */
        for (int k = 0; k < K; k++) {
            assert_non_null(h_i[k].ids);
            assert_near(h_i[k].score, h_i[k].log_p / pow(h_i[k].count + 1.0, 0.7), 1e-12);
            if (k > 0) assert_true(h_i[k - 1].score >= h_i[k].score);
            for (int l = 0; l < k; l++)
                assert_false(h_i[l].count == h_i[k].count &&
                             memcmp(h_i[l].ids, h_i[k].ids, (size_t)h_i[k].count * sizeof(int)) == 0);
            assert_near(h_i[k].log_p,
                        full_log_p(&s, b.source_ids + b.source.offset[i], packed_length(&b.source, i), h_i[k].ids,
                                   h_i[k].count),
                        100 * TIGHT);
        }
    }
    free_all(h, SENTENCES * K);
    free_all(first, SENTENCES);
    small_batch_free(&b);
    searcher_free(&s);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_batches_and_threads),
        cmocka_unit_test(test_beam_of_one_is_greedy),
        cmocka_unit_test(test_n_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
