/* Matches of n-grams against a naive count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "scores/ngrams.h"

/* How often text has the n symbols at `gram`. */
static int times(const Symbols *text, const int32_t *gram, int n) {
    int found = 0;
    for (int i = 0; i < ngrams_in(text, n); i++) found += memcmp(text->at + i, gram, (size_t)n * sizeof *gram) == 0;
    return found;
}

/* Straight from the definition, in quadratic time: each n-gram of the hypothesis where it first stands. */
static int naive_matches(const Symbols *h, const Symbols *references, int count, int n) {
    int matches = 0;
    for (int i = 0; i < ngrams_in(h, n); i++) {
        Symbols before = {h->at, (size_t)(i + n - 1), 0};
        if (times(&before, h->at + i, n) > 0) continue;
        int in_hypothesis = times(h, h->at + i, n), most = 0;
        for (int r = 0; r < count; r++) {
            int here = times(&references[r], h->at + i, n);
            most = here > most ? here : most;
        }
        matches += in_hypothesis < most ? in_hypothesis : most;
    }
    return matches;
}

static void test_matches_are_the_naive_ones(void **state) {
    (void)state;
    Rng rng = {7};
    NgramCounter counter = {0};
    Symbols text[4] = {{0}};
    for (int round = 0; round < 3000; round++) {
        uint64_t alphabet = 1 + rng_below(&rng, 6);
        int references = 1 + (int)rng_below(&rng, 3);
        int32_t matches[6];
        for (int i = 0; i <= references; i++) {
            size_t length = rng_below(&rng, round % 100 == 0 ? 200 : 15);
            symbols_begin(&text[i], length);
            while (text[i].count < length) symbols_push(&text[i], (int32_t)rng_below(&rng, alphabet) - 1);
        }
        ngrams_match(matches, &counter, &text[0], &text[1], references, 6);
        for (int n = 1; n <= 6; n++) assert_int_equal(matches[n - 1], naive_matches(&text[0], &text[1], references, n));
    }
    ngram_counter_free(&counter);
    for (int i = 0; i < 4; i++) symbols_free(&text[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_are_the_naive_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
