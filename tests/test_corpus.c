/* The corpus as ids: what is dropped and why, and what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/support/scratch.h"
#include "tests/support/small_corpus.h"

static void test_reasons(void **state) {
    (void)state;
    static const char tsv[] = "ab\tAB\n"                             /* 0: kept (3 tokens a side, with the mark) */
                              "\tB\n \xC2\xA0\tB\nb\t\xE2\x80\x83\n" /* 1, 2, 3: empty or blank */
                              "ababab\tABAB\n"                       /* 4: too long */
                              "ab\tAB\n"                             /* 5: as 0 */
                              "ab\tABA\n"                            /* 6: kept: not as 0 */
                              "a\tABABA\n"                           /* 7: ratio 3 */
                              "ABABA\ta\n"                           /* 8: ratio 3 */
                              "b\tABAB\n"                            /* 9: kept: ratio 2.5 */
                              "abA\tB\nab\tAB";                      /* 10: kept: 0's text, cut elsewhere; 11: as 0 */
    static const int kept[] = {0, 6, 9, 10};
    scratch_create();
    SmallCorpus f;
    small_corpus_init(&f, tsv, sizeof tsv - 1);
    CorpusFilter filter = {6, 2.5, true};
    assert_int_equal(f.corpus.pairs, 12);
    corpus_filter(&f.corpus, &f.text, &filter);
    assert_int_equal(f.corpus.lines, 12);
    assert_int_equal(f.corpus.empty_side, 3);
    assert_int_equal(f.corpus.too_long, 1);
    assert_int_equal(f.corpus.uneven_lengths, 2);
    assert_int_equal(f.corpus.duplicates, 2);
    assert_int_equal(f.corpus.pairs, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(f.corpus.line[i], kept[i]);
    small_corpus_free(&f);
    scratch_remove();
}

/* Oracle: all pairs before, one by one. */
static bool is_dropped(const Corpus *all, const ParallelText *text, int line, const CorpusFilter *f, const bool *kept) {
    int s = corpus_length(&all->source, line), t = corpus_length(&all->target, line);
    int longer = s > t ? s : t, shorter = s > t ? t : s;
    if (shorter == 0 || line_is_blank(text->source.line[line]) || line_is_blank(text->target.line[line])) return true;
    if (f->max_length > 0 && longer > f->max_length) return true;
    if (f->max_ratio > 0 && longer > f->max_ratio * shorter) return true;
    for (int i = 0; f->drop_duplicates && i < line; i++)
        if (kept[i] && small_corpus_same(&all->source, i, &all->source, line) &&
            small_corpus_same(&all->target, i, &all->target, line))
            return true;
    return false;
}

static void test_filter_against_oracle(void **state) {
    (void)state;
    enum { LINES = 300 };
    Rng rng = {3};
    scratch_create();
    for (int round = 0; round < 16; round++) {
        char tsv[LINES * 20];
        size_t size = 0;
        for (int i = 0; i < LINES; i++)
            for (int side = 0; side < 2; side++) {
                for (uint64_t n = rng_below(&rng, 5); n > 0; n--) tsv[size++] = "abb "[rng_below(&rng, 4)];
                tsv[size++] = side == 0 ? '\t' : '\n';
            }
        SmallCorpus f;
        small_corpus_init(&f, tsv, size);
        Corpus filtered;
        corpus_encode(&filtered, &f.text, f.tokenizer, f.tokenizer);
        CorpusFilter filter = {round & 1 ? 4 : 0, round & 2 ? 1.5 : 0, (round & 4) != 0};
        corpus_filter(&filtered, &f.text, &filter);
        bool kept[LINES] = {false};
        int pairs = 0;
        for (int i = 0; i < LINES; i++) {
            kept[i] = !is_dropped(&f.corpus, &f.text, i, &filter, kept);
            if (!kept[i]) continue;
            assert_in_range(pairs, 0, filtered.pairs - 1);
            assert_int_equal(filtered.line[pairs], i);
            assert_true(small_corpus_same(&filtered.source, pairs, &f.corpus.source, i));
            assert_true(small_corpus_same(&filtered.target, pairs, &f.corpus.target, i));
            pairs++;
        }
        assert_int_equal(pairs, filtered.pairs);
        assert_int_equal(filtered.source.offset[pairs], filtered.source.ids.count);
        assert_int_equal(LINES - pairs,
                         filtered.empty_side + filtered.too_long + filtered.uneven_lengths + filtered.duplicates);
        corpus_free(&filtered);
        small_corpus_free(&f);
    }
    scratch_remove();
}

static void test_counts(void **state) {
    (void)state;
    static const char tsv[] = "abab\tab\n"
                              "\xC3\xA9"
                              "a\xE2\x82\xAC\tbb\nb\tba"; /* e acute and euro sign occur once: bytes */
    scratch_create();
    SmallCorpus f;
    small_corpus_init(&f, tsv, sizeof tsv - 1);
    SideCounts source = corpus_count(&f.corpus.source, f.corpus.pairs), target = corpus_count(&f.corpus.target, 2);
    assert_int_equal(source.tokens, 5 + (1 + 2 + 1 + 3) + 2);
    assert_int_equal(source.longest, 7);
    assert_int_equal(source.in_bytes, 2);
    assert_int_equal(target.tokens, 3 + 3);
    assert_int_equal(target.longest, 3);
    assert_int_equal(target.in_bytes, 0);
    small_corpus_free(&f);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_filter_against_oracle),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
