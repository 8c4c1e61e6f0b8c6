/* Dropout masks: pure functions of their coordinates, alike in float and double, and random enough. */
#include "tests/support/probe.h"

#include "base/rng.h"

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

static DropoutRates all_rates(double rate) { return (DropoutRates){rate, rate, rate, rate}; }

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
    const double expected[] = {0.125, 0.5, 0.25, 0.5, 0.25, 0.75, 0.25};
    uint64_t key = 1;
    Dropout drop = {{.embedding = 0.125, .residual = 0.25, .attention = 0.5, .activation = 0.75}, &key};
    for (int place = 0; place < 7; place++) {
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
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_rates_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
