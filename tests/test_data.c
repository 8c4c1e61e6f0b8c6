/* Corpora and batches: what is kept, in which order it comes, and how it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "data/batches.h"
#include "data/text_file.h"
#include "tests/support/scratch.h"

static void write_text(const char *name, const char *text) { scratch_write(scratch_path(name), text, strlen(text)); }

static void test_only_newline_ends_a_line(void **state) {
    (void)state;
    scratch_create();
    const char text[] = "\xEF\xBB\xBFone\r\ntwo\0three\n\nfour \xE2\x80\xA8\v\rfive";
    scratch_write(scratch_path("a"), text, sizeof text - 1);
    Lines lines;
    Error error = {""};
    assert_true(text_file_read(&lines, scratch_path("a"), &error));
    assert_int_equal(lines.count, 4);
    assert_true(lines.had_bom && lines.had_cr);
    assert_int_equal(lines.line[0].length, 3);
    assert_memory_equal(lines.line[0].text, "one", 3);
    assert_int_equal(lines.line[1].length, 9);
    assert_memory_equal(lines.line[1].text, "two\0three", 9);
    assert_int_equal(lines.line[2].length, 0);
    assert_memory_equal(lines.line[3].text, "four \xE2\x80\xA8\v\rfive", 14);
    lines_free(&lines);
    scratch_remove();
}

static void test_compressed_text(void **state) {
    (void)state;
    scratch_create();
    gzFile file = gzopen(scratch_path("a.gz"), "wb");
    for (int i = 0; i < 50000; i++) gzprintf(file, "line %d\n", i);
    gzclose(file);
    Lines lines;
    Error error = {""};
    assert_true(text_file_read(&lines, scratch_path("a.gz"), &error));
    assert_int_equal(lines.count, 50000);
    assert_memory_equal(lines.line[49999].text, "line 49999", 10);
    lines_free(&lines);

    size_t size;
    char *bytes = scratch_read(scratch_path("a.gz"), &size);
    scratch_write(scratch_path("cut.gz"), bytes, size / 2);
    memset(bytes + size / 2, 'x', 100);
    scratch_write(scratch_path("bent.gz"), bytes, size);
    free(bytes);
    assert_false(text_file_read(&lines, scratch_path("cut.gz"), &error));
    assert_non_null(strstr(error.text, "cut.gz: cannot be read"));
    assert_false(text_file_read(&lines, scratch_path("bent.gz"), &error));
    assert_non_null(strstr(error.text, "bent.gz: cannot be read"));
    scratch_remove();
}

static void test_bad_corpora(void **state) {
    (void)state;
    scratch_create();
    ParallelText text;
    Error error = {""};
    write_text("two", "a\nb\n");
    write_text("three", "a\nb\nc");
    write_text("empty", "");
    assert_false(parallel_text_read(&text, scratch_path("two"), scratch_path("three"), &error));
    assert_non_null(strstr(error.text, "two has 2 lines"));
    assert_non_null(strstr(error.text, "three has 3"));
    assert_false(parallel_text_read(&text, scratch_path("missing"), scratch_path("two"), &error));
    assert_non_null(strstr(error.text, "missing: No such file"));
    assert_false(parallel_text_read(&text, scratch_path("two"), scratch_path("empty"), &error));
    assert_non_null(strstr(error.text, "empty: is empty"));
    assert_false(parallel_text_read(&text, scratch_path("two"), scratch_path(""), &error));
    assert_non_null(strstr(error.text, "is a directory"));
    scratch_remove();
}

/* A corpus whose tokens are its bytes (byte tokenizer: "▁", then one id a byte). */
static Corpus make_corpus(const char *source, const char *target, CorpusFilter filter) {
    scratch_create();
    write_text("s", source);
    write_text("t", target);
    ParallelText text;
    Error error = {""};
    assert_true(parallel_text_read(&text, scratch_path("s"), scratch_path("t"), &error));
    TokenizerOptions options = tokenizer_default_options();
    options.type = TOKENIZER_BYTE;
    const Lines *sides[] = {&text.source, &text.target};
    Tokenizer *tokenizer = tokenizer_learn(sides, 2, &options, &error);
    assert_non_null(tokenizer);
    Corpus corpus;
    corpus_encode(&corpus, &text, tokenizer, tokenizer);
    corpus_filter(&corpus, &text, &filter);
    tokenizer_free(tokenizer);
    parallel_text_free(&text);
    scratch_remove();
    return corpus;
}

static void test_pairs_are_dropped_and_counted(void **state) {
    (void)state;
    Corpus c = make_corpus("ab\n\nlong long line\nx\ny\n", "A\nB\nC\n\nY", (CorpusFilter){.max_length = 6});
    assert_int_equal(c.lines, 5);
    assert_int_equal(c.pairs, 2);
    assert_int_equal(c.empty_side, 2);
    assert_int_equal(c.too_long, 1);
    assert_int_equal(c.line[0], 0);
    assert_int_equal(c.line[1], 4);
    assert_int_equal(corpus_length(&c.source, 0), 3);
    Arena arena;
    arena_init(&arena, "test");
    Batch b = corpus_batch(&c, (int[]){1, 0}, 2, &arena);
    assert_int_equal(packed_rows(&b.source), 3 + 4);
    assert_int_equal(packed_rows(&b.target), 3 + 3);
    assert_int_equal(b.source_ids[2], ID_EOS);
    assert_int_equal(b.target_in[0], ID_BOS);
    assert_int_equal(b.target_in[2], ID_FIRST_BYTE + 'Y');
    assert_int_equal(b.target_out[1], ID_FIRST_BYTE + 'Y');
    assert_int_equal(b.target_out[2], ID_EOS);
    assert_int_equal(b.target_in[3], ID_BOS);
    assert_int_equal(b.index[0], 4);
    assert_int_equal(b.index[1], 0);
    arena_free(&arena);
    corpus_free(&c);
}

enum { PAIRS = 200 };

static Corpus numbered_corpus(void) {
    static char source[PAIRS * 64], target[PAIRS * 64];
    source[0] = target[0] = '\0';
    for (int i = 0; i < PAIRS; i++) {
        int n = 1 + i * 7 % 23, m = 1 + i * 11 % 29;
        snprintf(source + strlen(source), 64, "%.*s\n", n, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        snprintf(target + strlen(target), 64, "%.*s\n", m, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
    }
    return make_corpus(source, target, (CorpusFilter){0});
}

/* Each epoch holds each pair once, within the budget, in another order than the epoch before. */
static void test_epochs(void **state) {
    (void)state;
    Corpus c = numbered_corpus();
    Batcher b;
    Arena arena;
    arena_init(&arena, "test");
    batcher_init(&b, &c, 5, 0, 0);
    int first_of_epoch[3];
    for (int epoch = 0; epoch < 3; epoch++) {
        int seen[PAIRS] = {0}, pairs = 0;
        first_of_epoch[epoch] = b.order[0];
        do {
            arena_release(&arena, (ArenaMark){0});
            Update u = batcher_next(&b, NULL, 100, 30, 2, &arena);
            assert_true(u.target_tokens <= 100 && u.pairs > 0);
            for (int i = 0; i < u.pieces; i++)
                for (int s = 0; s < u.piece[i].target.sentences; s++) seen[u.piece[i].index[s]]++;
            pairs += u.pairs;
        } while (!batcher_at_epoch_start(&b));
        assert_int_equal(pairs, PAIRS);
        assert_int_equal(b.epoch, epoch + 1);
        for (int i = 0; i < PAIRS; i++) assert_int_equal(seen[i], 1);
    }
    assert_true(first_of_epoch[0] != first_of_epoch[1] || first_of_epoch[1] != first_of_epoch[2]);
    batcher_free(&b);
    arena_free(&arena);
    corpus_free(&c);
}

/* Starting at a saved place gives the same updates as going there. */
static void test_batches_resume(void **state) {
    (void)state;
    Corpus c = numbered_corpus();
    Batcher b, again;
    Arena arena;
    arena_init(&arena, "test");
    batcher_init(&b, &c, 5, 0, 0);
    for (int i = 0; i < 70; i++) batcher_next(&b, NULL, 90, 30, 2, &arena);
    assert_true(b.epoch > 0 && b.next > 0);
    batcher_init(&again, &c, 5, b.epoch, b.next);
    for (int i = 0; i < 70; i++) {
        Update u = batcher_next(&b, NULL, 90, 30, 2, &arena), v = batcher_next(&again, NULL, 90, 30, 2, &arena);
        assert_int_equal(u.pairs, v.pairs);
        assert_int_equal(u.pieces, v.pieces);
        for (int p = 0; p < u.pieces; p++)
            assert_memory_equal(u.piece[p].index, v.piece[p].index,
                                (size_t)u.piece[p].target.sentences * sizeof(int64_t));
    }
    batcher_free(&b);
    batcher_free(&again);
    arena_free(&arena);
    corpus_free(&c);
}

/* Pieces are about equal, fill the lanes, and hold the update's sentences in order. */
static void test_pieces(void **state) {
    (void)state;
    Corpus c = numbered_corpus();
    Arena arena;
    arena_init(&arena, "test");
    for (int lanes = 1; lanes <= 5; lanes++) {
        Batcher b;
        batcher_init(&b, &c, 9, 0, 0);
        Update u = batcher_next(&b, NULL, 2000, 256, lanes, &arena);
        assert_int_equal(u.pieces % lanes, 0);
        int place = 0, most = 2000 / u.pieces + 31;
        for (int i = 0; i < u.pieces; i++) {
            assert_in_range(packed_rows(&u.piece[i].target), 1, most);
            for (int s = 0; s < u.piece[i].target.sentences; s++)
                assert_int_equal(u.piece[i].index[s], c.line[b.order[place++]]);
        }
        assert_int_equal(place, u.pairs);
        batcher_free(&b);
    }
    Batcher b; /* more lanes than sentences; a sentence larger than the budget */
    batcher_init(&b, &c, 9, 0, 0);
    Update one = batcher_next(&b, NULL, 1, 512, 4, &arena);
    assert_int_equal(one.pairs, 1);
    assert_int_equal(one.pieces, 1);
    batcher_free(&b);
    arena_free(&arena);
    corpus_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_newline_ends_a_line),
        cmocka_unit_test(test_compressed_text),
        cmocka_unit_test(test_bad_corpora),
        cmocka_unit_test(test_pairs_are_dropped_and_counted),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_batches_resume),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
