/* Dropout masks: pure functions of their coordinates, alike in float and double, and random enough. */
#include "tests/support/probe.h"

#include "base/rng.h"
#include "model/embedding.h"

enum { ROWS = 64, COLS = 512, SIZE = ROWS * COLS };

/* Hashes of two masks: HERE at rate 0.1 and HERE_IN_HEAD at rate 0.3. */
static const uint64_t MASK_OF_ROWS = 0x8bed4eff273a8020, MASK_OF_WEIGHTS = 0x0cebd46d52342b99;

typedef struct Mask {
    unsigned char kept[SIZE];
} Mask;

/* What a mask depends on. */
typedef struct Coordinates {
    DropoutDraw draw;
    int side;
    int64_t index; /* of the sentence that holds all rows */
    int layer;
    DropoutPlace place;
    int head; /* -1: not attention weights */
} Coordinates;

static const Coordinates HERE = {{.seed = 5, .update = 40, .copy = 0}, 0, 1234, 1, DROPOUT_FFN_RESIDUAL, -1};
static const Coordinates HERE_IN_HEAD = {{.seed = 5, .update = 40, .copy = 0}, 1, 1234, 1, DROPOUT_SELF_WEIGHTS, 2};

static DropoutRates all_rates(double rate) { return (DropoutRates){rate, rate, rate, rate, rate, rate}; }

static Mask draw_mask(const Coordinates *c, double rate) {
    static real ones[SIZE], y[SIZE];
    int offset[] = {0, ROWS};
    Packed rows = {1, offset};
    DropoutRates rates = all_rates(rate);
    Arena arena;
    arena_init(&arena, "test");
    Dropout drop = dropout_draw(&c->draw, &rates, c->side, &rows, &c->index, &arena);
    DropoutSite site = dropout_site(&drop, c->layer, c->place);
    for (int i = 0; i < SIZE; i++) ones[i] = 1;
    if (c->head < 0)
        dropout_forward(y, ones, ROWS, COLS, &site);
    else
        for (int n = 0; n < ROWS; n++) dropout_weights(y + n * COLS, ones + n * COLS, COLS, n, c->head, &site);
    arena_free(&arena);
    Mask mask;
    for (int i = 0; i < SIZE; i++) {
        assert_true(y[i] == 0 || y[i] == (real)(1 / (1 - rate)));
        mask.kept[i] = y[i] != 0;
    }
    return mask;
}

static uint64_t hash_mask(const Mask *mask) {
    uint64_t hash = 0;
    for (int i = 0; i < SIZE; i++) hash = hash_fold(hash, mask->kept[i]);
    return hash;
}

/* Committed: the same in float and in double, and a run that is resumed by a later version sees them again. */
static void test_masks_are_what_they_were(void **state) {
    (void)state;
    Mask rows = draw_mask(&HERE, 0.1), weights = draw_mask(&HERE_IN_HEAD, 0.3);
    assert_true(hash_mask(&rows) == MASK_OF_ROWS);
    assert_true(hash_mask(&weights) == MASK_OF_WEIGHTS);
}

/* Correlation of the decisions at a[i] and b[i + shift], in standard deviations of what independence gives. */
static double correlation(const Mask *a, const Mask *b, int row_shift, int col_shift, double rate) {
    double sum = 0, pairs = 0, keep = 1 - rate;
    for (int n = 0; n + row_shift < ROWS; n++) {
        for (int f = 0; f + col_shift < COLS; f++, pairs++)
            sum += (a->kept[n * COLS + f] - keep) * (b->kept[(n + row_shift) * COLS + f + col_shift] - keep);
    }
    return fabs(sum) / (keep * rate * sqrt(pairs));
}

static const double DEVIATIONS = 4.5; /* of a few hundred draws, one in a thousand runs would go beyond */

static void test_keep_rate(void **state) {
    (void)state;
    const double rate[] = {0.01, 0.1, 0.3, 0.5, 0.9};
    for (int i = 0; i < 5; i++) {
        double kept = 0, size = 0;
        for (int layer = 0; layer < 16; layer++) {
            Coordinates c = layer % 2 ? HERE : HERE_IN_HEAD;
            c.layer = layer;
            Mask mask = draw_mask(&c, rate[i]);
            double here = 0;
            for (int j = 0; j < SIZE; j++) here += mask.kept[j];
            assert_below(fabs(here / SIZE - (1 - rate[i])), DEVIATIONS * sqrt(rate[i] * (1 - rate[i]) / SIZE));
            kept += here;
            size += SIZE;
        }
        assert_below(fabs(kept / size - (1 - rate[i])), DEVIATIONS * sqrt(rate[i] * (1 - rate[i]) / size));
    }
}

static void test_neighbours_are_independent(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        Mask mask = draw_mask(kind ? &HERE : &HERE_IN_HEAD, 0.3);
        for (int shift = 1; shift < 33; shift++) {
            assert_below(correlation(&mask, &mask, shift, 0, 0.3), DEVIATIONS);
            assert_below(correlation(&mask, &mask, 0, shift, 0.3), DEVIATIONS);
            assert_below(correlation(&mask, &mask, shift, shift, 0.3), DEVIATIONS);
        }
        assert_below(correlation(&mask, &mask, 0, 64, 0.3), DEVIATIONS);
        assert_below(correlation(&mask, &mask, 0, 256, 0.3), DEVIATIONS);
    }
}

static void check_differs(const Mask *a, const Mask *b) {
    assert_below(correlation(a, b, 0, 0, 0.3), DEVIATIONS);
    assert_below(correlation(a, b, 1, 0, 0.3), DEVIATIONS);
    assert_below(correlation(b, a, 1, 0, 0.3), DEVIATIONS);
    assert_below(correlation(a, b, 0, 1, 0.3), DEVIATIONS);
}

/* Coordinates that differ in one place, or in two that a sum would not tell apart. */
/* step > 1: with 1, variants 8 and 10 are the same. */
enum { VARIANTS = 13 };
static void vary(Coordinates c[VARIANTS], int step) {
    for (int i = 0; i < VARIANTS; i++) c[i] = HERE;
    c[1].draw.seed += (uint64_t)step;
    c[2].draw.update += step;
    c[3].draw.copy += step;
    c[4].side = 1;
    c[5].index += step;
    c[6].layer += step;
    c[7].place = (DropoutPlace)((int)HERE.place - step);
    c[8].layer += step;
    c[8].place = c[7].place;
    c[9].draw.copy += step;
    c[9].side = 1;
    c[10].layer += 1;
    c[10].place = c[7].place;
    c[11].draw.update = HERE.index;
    c[11].index = HERE.draw.update;
    c[12].draw.copy += 1;
}

static void test_every_coordinate_matters(void **state) {
    (void)state;
    static Mask mask[VARIANTS];
    for (int step = 2; step <= (int)HERE.place; step++) {
        Coordinates c[VARIANTS];
        vary(c, step);
        for (int i = 0; i < VARIANTS; i++) mask[i] = draw_mask(&c[i], 0.3);
        for (int i = 0; i < VARIANTS; i++)
            for (int j = 0; j < i; j++) check_differs(&mask[i], &mask[j]);
    }
}

static void test_every_head_has_its_own_mask(void **state) {
    (void)state;
    static Mask mask[8];
    for (int i = 0; i < 8; i++) {
        Coordinates c = HERE_IN_HEAD;
        c.head = i - 1;
        mask[i] = draw_mask(&c, 0.3);
        for (int j = 0; j < i; j++) check_differs(&mask[i], &mask[j]);
    }
}

/* A sentence's masks are the same wherever it stands in a batch. */
static void test_place_in_the_batch_does_not_matter(void **state) {
    (void)state;
    DropoutDraw draw = {.seed = 1, .update = 2};
    DropoutRates rates = all_rates(0.5);
    int alone[] = {0, 9}, among[] = {0, 3, 12, 20};
    int64_t index = 77, indices[] = {5, 77, 6};
    Arena arena;
    arena_init(&arena, "test");
    Dropout one = dropout_draw(&draw, &rates, 1, &(Packed){1, alone}, &index, &arena);
    Dropout three = dropout_draw(&draw, &rates, 1, &(Packed){3, among}, indices, &arena);
    assert_memory_equal(one.row_key, three.row_key + 3, 9 * sizeof *one.row_key);
    for (int n = 0; n < 20; n++)
        for (int m = 0; m < n; m++) assert_true(three.row_key[n] != three.row_key[m]);
    arena_free(&arena);
}

/* Words: one decision a row. */

enum { WORDS = 20000 };
typedef struct Words {
    unsigned char kept[WORDS];
} Words;

static Words draw_words(const Coordinates *c, double rate) {
    int offset[] = {0, WORDS};
    Packed rows = {1, offset};
    DropoutRates rates = all_rates(rate);
    Arena arena;
    arena_init(&arena, "test");
    Dropout drop = dropout_draw(&c->draw, &rates, c->side, &rows, &c->index, &arena);
    DropoutSite site = dropout_site(&drop, c->layer, c->place);
    Words words;
    for (int n = 0; n < WORDS; n++) {
        real m = dropout_word(n, &site);
        assert_true(m == 0 || m == (real)(1 / (1 - rate)));
        words.kept[n] = m != 0;
    }
    arena_free(&arena);
    return words;
}

static void check_words_differ(const Words *a, const Words *b, int shift, double rate) {
    double sum = 0;
    for (int n = 0; n + shift < WORDS; n++) sum += (a->kept[n] - 1 + rate) * (b->kept[n + shift] - 1 + rate);
    assert_below(fabs(sum) / (rate * (1 - rate) * sqrt(WORDS - shift)), DEVIATIONS);
}

static void test_words_are_dropped_at_their_rate(void **state) {
    (void)state;
    const double rate[] = {0.01, 0.1, 0.5, 0.9};
    for (int i = 0; i < 4; i++) {
        Coordinates c[7];
        for (int j = 0; j < 7; j++) c[j] = HERE, c[j].layer = 0, c[j].place = DROPOUT_SOURCE_WORD;
        c[1].draw.seed++;
        c[2].draw.update++;
        c[3].draw.copy++;
        c[4].side = 1;
        c[5].index++;
        c[6].place = DROPOUT_TARGET_WORD;
        static Words words[7];
        for (int j = 0; j < 7; j++) {
            words[j] = draw_words(&c[j], rate[i]);
            double kept = 0;
            for (int n = 0; n < WORDS; n++) kept += words[j].kept[n];
            assert_below(fabs(kept / WORDS - 1 + rate[i]), DEVIATIONS * sqrt(rate[i] * (1 - rate[i]) / WORDS));
            for (int k = 0; k < j; k++) check_words_differ(&words[j], &words[k], 0, rate[i]);
        }
        for (int shift = 1; shift < 9; shift++) check_words_differ(&words[0], &words[0], shift, rate[i]);
    }
}

/* Committed, as MASK_OF_ROWS is. */
static const uint64_t WORDS_OF_A_SENTENCE = 0x57b1cbbd528232c7;

static void test_words_are_what_they_were(void **state) {
    (void)state;
    Coordinates c = HERE;
    c.layer = 0;
    c.place = DROPOUT_SOURCE_WORD;
    Words words = draw_words(&c, 0.1);
    uint64_t hash = 0;
    for (int n = 0; n < WORDS; n++) hash = hash_fold(hash, words.kept[n]);
    if (hash != WORDS_OF_A_SENTENCE) fail_msg("hash of the dropped words: 0x%016llx", (unsigned long long)hash);
}

/* A dropped word leaves its position and learns nothing; <s> and </s> are never dropped nor scaled. */
static void test_dropped_words(void **state) {
    (void)state;
    enum { N = 400, D = 4, V = 5 };
    static real E[V * D], dE[V * D], table[N * D], x[N * D], dx[N * D];
    static int ids[N];
    int offset[] = {0, N}, dropped = 0;
    int64_t index = 3;
    DropoutRates rates = {.source_word = 0.5};
    for (int i = 0; i < V * D; i++) E[i] = (real)(1 + i);
    for (int n = 0; n < N; n++) ids[n] = n % V;
    for (int i = 0; i < N * D; i++) dx[i] = 1;
    Arena arena;
    arena_init(&arena, "test");
    Dropout drop = dropout_draw(&(DropoutDraw){.seed = 1}, &rates, 0, &(Packed){1, offset}, &index, &arena);
    DropoutSite words = dropout_site(&drop, 0, DROPOUT_SOURCE_WORD);
    Positions positions = {N, D, table};
    embedding_forward(x, ids, &(Packed){1, offset}, 0, &(Embedding){V, D, E}, &positions, &words);
    embedding_backward(&(Embedding){V, D, dE}, dx, ids, N, &words);
    double sum[V] = {0}; /* of the masks of each word's places */
    for (int n = 0; n < N; n++) {
        real m = x[n * D] / (2 * E[ids[n] * D]);
        assert_true(m == 1 || (ids[n] != ID_BOS && ids[n] != ID_EOS && (m == 0 || m == 2)));
        for (int d = 1; d < D; d++) assert_true(x[n * D + d] == 2 * m * E[ids[n] * D + d]);
        dropped += m == 0;
        sum[ids[n]] += (double)m;
    }
    assert_in_range(dropped, 90, 150); /* of 240 */
    for (int v = 0; v < V; v++)
        for (int d = 0; d < D; d++) assert_true((double)dE[v * D + d] == 2 * sum[v]);
    arena_free(&arena);
}

static void test_off(void **state) {
    (void)state;
    real x[6] = {1, -2, 3, 0, 5, 6}, y[6];
    DropoutDraw draw = {.seed = 1};
    DropoutRates none = all_rates(0), some = all_rates(0.5);
    int offset[] = {0, 2};
    int64_t index = 3;
    Arena arena;
    arena_init(&arena, "test");
    Dropout without_draw = dropout_draw(NULL, &some, 0, &(Packed){1, offset}, &index, &arena);
    Dropout without_rate = dropout_draw(&draw, &none, 0, &(Packed){1, offset}, &index, &arena);
    DropoutSite site[] = {dropout_site(&without_draw, 0, DROPOUT_EMBEDDING),
                          dropout_site(&without_rate, 0, DROPOUT_EMBEDDING)};
    for (int i = 0; i < 2; i++) {
        assert_false(dropout_is_on(&site[i]));
        dropout_forward(y, x, 2, 3, &site[i]);
        assert_memory_equal(x, y, sizeof x);
    }
    arena_free(&arena);
}

/* Each place takes the rate that the configuration names for it. */
static void test_rates_of_places(void **state) {
    (void)state;
    const double expected[] = {0.125, 0.5, 0.25, 0.5, 0.25, 0.75, 0.25, 0.375, 0.625};
    uint64_t key = 1;
    Dropout drop = {{.embedding = 0.125,
                     .residual = 0.25,
                     .attention = 0.5,
                     .activation = 0.75,
                     .source_word = 0.375,
                     .target_word = 0.625},
                    &key};
    for (int place = 0; place < 9; place++) {
        DropoutSite site = dropout_site(&drop, 0, (DropoutPlace)place);
        assert_true(site.threshold == (uint32_t)(expected[place] * 0x1p32));
        assert_near(site.scale, 1 / (1 - expected[place]), 1e-7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_are_what_they_were),
        cmocka_unit_test(test_keep_rate),
        cmocka_unit_test(test_neighbours_are_independent),
        cmocka_unit_test(test_every_coordinate_matters),
        cmocka_unit_test(test_every_head_has_its_own_mask),
        cmocka_unit_test(test_place_in_the_batch_does_not_matter),
        cmocka_unit_test(test_words_are_dropped_at_their_rate),
        cmocka_unit_test(test_words_are_what_they_were),
        cmocka_unit_test(test_dropped_words),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_rates_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
