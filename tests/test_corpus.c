/* The corpus as ids: what is dropped and why, counts, and the cache, which must never be believed when it is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "run/safetensors.h"
#include "tests/support/scratch.h"
#include "training/corpus_cache.h"

/* A text, its tokenizer (of characters, those that occur once in bytes) and all its lines as ids. */
typedef struct Fixture {
    ParallelText text;
    Tokenizer *tokenizer;
    Corpus corpus;
    CorpusKey key;
} Fixture;

/* From the text of a TSV file. */
static void fixture_init(Fixture *f, const char *tsv, size_t size) {
    Error error = {""};
    scratch_write(scratch_path("t.tsv"), tsv, size);
    if (!parallel_text_read_tsv(&f->text, scratch_path("t.tsv"), &error)) fail_msg("%s", error.text);
    TokenizerOptions options = tokenizer_default_options();
    options.type = TOKENIZER_CHAR;
    const Lines *sides[] = {&f->text.source, &f->text.target};
    f->tokenizer = tokenizer_learn(sides, 2, &options, &error);
    assert_non_null(f->tokenizer);
    corpus_encode(&f->corpus, &f->text, f->tokenizer, f->tokenizer);
    f->key = corpus_key(&f->text, f->tokenizer, f->tokenizer);
}

static void fixture_free(Fixture *f) {
    corpus_free(&f->corpus);
    tokenizer_free(f->tokenizer);
    parallel_text_free(&f->text);
}

static const int *ids_of(const CorpusSide *side, int pair) { return side->ids.ids + side->offset[pair]; }

/* Is pair i of `side` the sentence j of `all`? */
static bool same(const CorpusSide *side, int i, const CorpusSide *all, int j) {
    int n = corpus_length(side, i);
    return n == corpus_length(all, j) && memcmp(ids_of(side, i), ids_of(all, j), (size_t)n * sizeof(int)) == 0;
}

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
    Fixture f;
    fixture_init(&f, tsv, sizeof tsv - 1);
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
    fixture_free(&f);
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
        if (kept[i] && same(&all->source, i, &all->source, line) && same(&all->target, i, &all->target, line))
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
        Fixture f;
        fixture_init(&f, tsv, size);
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
            assert_true(same(&filtered.source, pairs, &f.corpus.source, i));
            assert_true(same(&filtered.target, pairs, &f.corpus.target, i));
            pairs++;
        }
        assert_int_equal(pairs, filtered.pairs);
        assert_int_equal(filtered.source.offset[pairs], filtered.source.ids.count);
        assert_int_equal(LINES - pairs,
                         filtered.empty_side + filtered.too_long + filtered.uneven_lengths + filtered.duplicates);
        corpus_free(&filtered);
        fixture_free(&f);
    }
    scratch_remove();
}

static void test_counts(void **state) {
    (void)state;
    static const char tsv[] = "abab\tab\n"
                              "\xC3\xA9"
                              "a\xE2\x82\xAC\tbb\nb\tba"; /* e acute and euro sign occur once: bytes */
    scratch_create();
    Fixture f;
    fixture_init(&f, tsv, sizeof tsv - 1);
    SideCounts source = corpus_count(&f.corpus.source, f.corpus.pairs), target = corpus_count(&f.corpus.target, 2);
    assert_int_equal(source.tokens, 5 + (1 + 2 + 1 + 3) + 2);
    assert_int_equal(source.longest, 7);
    assert_int_equal(source.in_bytes, 2);
    assert_int_equal(target.tokens, 3 + 3);
    assert_int_equal(target.longest, 3);
    assert_int_equal(target.in_bytes, 0);
    fixture_free(&f);
    scratch_remove();
}

static const char TSV[] = "ab ba\tAB\n\tA\nabba\t\xC3\xA9\nb a\tBA A";

static CacheState load(const Fixture *f, Corpus *corpus) {
    return corpus_cache_load(corpus, scratch_path("cache"), &f->key, &f->text, f->tokenizer, f->tokenizer);
}

static void assert_loads(const Fixture *f) {
    Corpus c;
    assert_int_equal(load(f, &c), CACHE_GOOD);
    assert_int_equal(c.lines, f->corpus.lines);
    assert_int_equal(c.pairs, f->corpus.pairs);
    assert_true(corpus_hash(&c) == corpus_hash(&f->corpus));
    for (int i = 0; i < c.pairs; i++)
        assert_true(same(&c.source, i, &f->corpus.source, i) && same(&c.target, i, &f->corpus.target, i));
    corpus_free(&c);
}

static void save(const Fixture *f, const Corpus *corpus) {
    Error error = {""};
    if (!corpus_cache_save(corpus, scratch_path("cache"), &f->key, &error)) fail_msg("%s", error.text);
}

/* Cut at any length, longer by any byte, or with any byte changed, the cache is not used. */
static void test_damaged_cache(void **state) {
    (void)state;
    scratch_create();
    Fixture f;
    Corpus c;
    size_t size;
    fixture_init(&f, TSV, sizeof TSV - 1);
    assert_int_equal(load(&f, &c), CACHE_NONE);
    save(&f, &f.corpus);
    assert_loads(&f);
    char *bytes = scratch_read(scratch_path("cache"), &size);
    for (size_t length = 0; length < size; length++) {
        scratch_write(scratch_path("cache"), bytes, length);
        assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    }
    for (int more = 0; more < 256; more++) { /* scratch_read left room for one byte */
        bytes[size] = (char)more;
        scratch_write(scratch_path("cache"), bytes, size + 1);
        assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    }
    for (size_t at = 0; at < size; at++)
        for (int change = 0; change < 4; change++) {
            static const unsigned char mask[4] = {0x01, 0x20, 0x80, 0xFF};
            bytes[at] = (char)(bytes[at] ^ mask[change]);
            scratch_write(scratch_path("cache"), bytes, size);
            bytes[at] = (char)(bytes[at] ^ mask[change]);
            assert_int_equal(load(&f, &c), CACHE_DAMAGED);
        }
    scratch_write(scratch_path("cache"), bytes, size);
    assert_loads(&f);
    assert_int_equal(truncate(scratch_path("cache"), (off_t)1 << 40), 0); /* costs no memory */
    assert_int_equal(load(&f, &c), CACHE_NONE);
    unlink(scratch_path("cache"));
    assert_int_equal(mkfifo(scratch_path("cache"), 0666), 0);
    assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    free(bytes);
    fixture_free(&f);
    scratch_remove();
}

/* Content that cannot be, under a checksum that is right. */
static void test_impossible_cache(void **state) {
    (void)state;
    scratch_create();
    Fixture f;
    Corpus c, bad;
    fixture_init(&f, TSV, sizeof TSV - 1);
    for (int fault = 0; fault < 8; fault++) {
        corpus_encode(&bad, &f.text, f.tokenizer, f.tokenizer);
        CorpusSide *side = fault % 2 == 0 ? &bad.source : &bad.target;
        int lines = bad.lines;
        if (fault / 2 == 0) side->ids.ids[2] = tokenizer_vocab_size(f.tokenizer);
        if (fault / 2 == 1) side->ids.ids[2] = -1;
        if (fault / 2 == 2) side->offset[1] = side->offset[3] + 1;
        if (fault == 6) side->offset[0] = 1;
        if (fault == 7) side->offset[lines]--;
        save(&f, &bad);
        assert_int_equal(load(&f, &c), CACHE_DAMAGED);
        corpus_free(&bad);
    }
    corpus_encode(&bad, &f.text, f.tokenizer, f.tokenizer);
    bad.lines = --bad.pairs; /* of another text, under this one's key */
    bad.source.ids.count = (size_t)bad.source.offset[bad.lines];
    bad.target.ids.count = (size_t)bad.target.offset[bad.lines];
    save(&f, &bad);
    assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    corpus_free(&bad);
    save(&f, &f.corpus);
    assert_loads(&f);
    fixture_free(&f);
    scratch_remove();
}

/* A tensor is missing or of another type; the file has no checksum or no key. */
static void test_foreign_cache(void **state) {
    (void)state;
    scratch_create();
    Fixture f;
    Corpus c;
    Error error = {""};
    fixture_init(&f, TSV, sizeof TSV - 1);
    int lines = f.corpus.lines;
    SafetensorsTensor good[4] = {
        {"source.ids", SAFETENSORS_I32, 1, {(int64_t)f.corpus.source.ids.count}, f.corpus.source.ids.ids},
        {"source.offset", SAFETENSORS_I64, 1, {lines + 1}, f.corpus.source.offset},
        {"target.ids", SAFETENSORS_I32, 1, {(int64_t)f.corpus.target.ids.count}, f.corpus.target.ids.ids},
        {"target.offset", SAFETENSORS_I64, 1, {lines + 1}, f.corpus.target.offset}};
    SafetensorsPair key = {"tandem.corpus", f.key.text};
    for (int fault = -1; fault < 12; fault++) {
        SafetensorsTensor tensor[4];
        memcpy(tensor, good, sizeof tensor);
        SafetensorsTensor *t = &tensor[fault < 0 ? 0 : fault % 4];
        if (fault >= 0 && fault < 4) t->name = "other";
        if (fault >= 4 && fault < 8) t->type = t->type == SAFETENSORS_I32 ? SAFETENSORS_F32 : SAFETENSORS_F64;
        if (fault >= 8) {
            t->rank = 2;
            t->shape[1] = 1;
        }
        assert_true(safetensors_write(scratch_path("cache"), tensor, 4, &key, 1, &error));
        if (fault < 0)
            assert_loads(&f);
        else
            assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    }
    assert_true(safetensors_write(scratch_path("cache"), good, 4, NULL, 0, &error));
    assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    save(&f, &f.corpus);
    size_t size;
    char *bytes = scratch_read(scratch_path("cache"), &size), *name = memmem(bytes, size, "tandem.checksum", 15);
    assert_non_null(name);
    name[0] = 'T';
    scratch_write(scratch_path("cache"), bytes, size);
    assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    free(bytes);
    fixture_free(&f);
    scratch_remove();
}

/* Other text, however near, or another tokenizer has another key. */
static void test_stale_cache(void **state) {
    (void)state;
    static const char *const other[] = {
        "ab ba\tAB\n\tA\nabba\t\xC3\xA9\nb a\tBA B", /* a letter */
        "ab ba\tAB\n\tA\nb a\tBA A\nabba\t\xC3\xA9", /* the order */
        "ab ba\tAB\nA\t\nabba\t\xC3\xA9\nb a\tBA A", /* a side */
        "ab b\taAB\n\tA\nabba\t\xC3\xA9\nb a\tBA A", /* the place of the tab */
        "ab ba\tAB\n\tA\nabba\t\xC3\xA9\nb a\tBA A\n\t", "ab ba\tAB\n\tA\nabba\t\xC3\xA9",
    };
    scratch_create();
    Fixture f, g;
    Corpus c;
    fixture_init(&f, TSV, sizeof TSV - 1);
    save(&f, &f.corpus);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        fixture_init(&g, other[i], strlen(other[i]));
        assert_int_equal(load(&g, &c), CACHE_NONE);
        assert_true(memcmp(&f.key, &g.key, sizeof f.key) != 0);
        CorpusKey same_tokenizer = corpus_key(&g.text, f.tokenizer, f.tokenizer);
        assert_string_not_equal(same_tokenizer.text, f.key.text);
        fixture_free(&g);
    }
    fixture_init(&g, TSV, sizeof TSV - 1);
    assert_string_equal(g.key.text, f.key.text);
    assert_loads(&g);
    TokenizerOptions options = tokenizer_default_options();
    options.type = TOKENIZER_CHAR;
    options.lowercase = true;
    const Lines *sides[] = {&f.text.source, &f.text.target};
    Error error;
    Tokenizer *lower = tokenizer_learn(sides, 2, &options, &error);
    CorpusKey keys[3] = {corpus_key(&f.text, lower, lower), corpus_key(&f.text, f.tokenizer, lower),
                         corpus_key(&f.text, lower, f.tokenizer)};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) assert_string_not_equal(keys[i].text, keys[j].text);
    for (int i = 0; i < 3; i++) assert_string_not_equal(keys[i].text, f.key.text);
    tokenizer_free(lower);
    fixture_free(&g);
    fixture_free(&f);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),          cmocka_unit_test(test_filter_against_oracle),
        cmocka_unit_test(test_counts),           cmocka_unit_test(test_damaged_cache),
        cmocka_unit_test(test_impossible_cache), cmocka_unit_test(test_foreign_cache),
        cmocka_unit_test(test_stale_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
