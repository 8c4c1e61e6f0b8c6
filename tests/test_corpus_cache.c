/* The cache of a corpus's ids, which must never be believed when it is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "run/safetensors.h"
#include "tests/support/scratch.h"
#include "tests/support/small_corpus.h"

static const char TSV[] = "ab ba\tAB\n\tA\nabba\t\xC3\xA9\nb a\tBA A";

static CacheState load(const SmallCorpus *f, Corpus *corpus) {
    return corpus_cache_load(corpus, scratch_path("cache"), &f->key, &f->text, f->tokenizer, f->tokenizer);
}

static void assert_loads(const SmallCorpus *f) {
    Corpus c;
    assert_int_equal(load(f, &c), CACHE_GOOD);
    assert_int_equal(c.lines, f->corpus.lines);
    assert_int_equal(c.pairs, f->corpus.pairs);
    assert_true(corpus_hash(&c) == corpus_hash(&f->corpus));
    for (int i = 0; i < c.pairs; i++)
        assert_true(small_corpus_same(&c.source, i, &f->corpus.source, i) &&
                    small_corpus_same(&c.target, i, &f->corpus.target, i));
    corpus_free(&c);
}

static void save(const SmallCorpus *f, const Corpus *corpus) {
    Error error = {""};
    if (!corpus_cache_save(corpus, scratch_path("cache"), &f->key, &error)) fail_msg("%s", error.text);
}

/* Cut at any length, longer by any byte, or with any byte changed, the cache is not used. */
static void test_damaged_cache(void **state) {
    (void)state;
    scratch_create();
    SmallCorpus f;
    Corpus c;
    size_t size;
    small_corpus_init(&f, TSV, sizeof TSV - 1);
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
    small_corpus_free(&f);
    scratch_remove();
}

/* Content that cannot be, under a checksum that is right. */
static void test_impossible_cache(void **state) {
    (void)state;
    scratch_create();
    SmallCorpus f;
    Corpus c, bad;
    small_corpus_init(&f, TSV, sizeof TSV - 1);
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
    for (int i = 0; i < 2; i++) { /* an empty line more, under the key of the text without it */
        CorpusSide *side = i == 0 ? &bad.source : &bad.target;
        side->offset = memory_grow(side->offset, (size_t)bad.lines + 1, (size_t)bad.lines + 2, sizeof(int64_t), "test");
        side->offset[bad.lines + 1] = side->offset[bad.lines];
    }
    bad.lines = ++bad.pairs;
    save(&f, &bad);
    assert_int_equal(load(&f, &c), CACHE_DAMAGED);
    corpus_free(&bad);
    save(&f, &f.corpus);
    assert_loads(&f);
    small_corpus_free(&f);
    scratch_remove();
}

/* A tensor is missing or of another type; the file has no checksum or no key. */
static void test_foreign_cache(void **state) {
    (void)state;
    scratch_create();
    SmallCorpus f;
    Corpus c;
    Error error = {""};
    small_corpus_init(&f, TSV, sizeof TSV - 1);
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
    small_corpus_free(&f);
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
        "ab b\tAB\na\tA\nabba\t\xC3\xA9\nb a\tBA A", /* the place of a line's end, on one side */
        "ab ba\tAB\n\tA\nabba\t\xC3\xA9\nb a\tBA A\n\t", "ab ba\tAB\n\tA\nabba\t\xC3\xA9",
    };
    scratch_create();
    SmallCorpus f, g;
    Corpus c;
    small_corpus_init(&f, TSV, sizeof TSV - 1);
    save(&f, &f.corpus);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        small_corpus_init(&g, other[i], strlen(other[i]));
        assert_int_equal(load(&g, &c), CACHE_NONE);
        assert_true(memcmp(&f.key, &g.key, sizeof f.key) != 0);
        CorpusKey same_tokenizer = corpus_key(&g.text, f.tokenizer, f.tokenizer);
        assert_string_not_equal(same_tokenizer.text, f.key.text);
        small_corpus_free(&g);
    }
    small_corpus_init(&g, TSV, sizeof TSV - 1);
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
    small_corpus_free(&g);
    small_corpus_free(&f);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_cache),
        cmocka_unit_test(test_impossible_cache),
        cmocka_unit_test(test_foreign_cache),
        cmocka_unit_test(test_stale_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
