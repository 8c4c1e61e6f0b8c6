/* BPE-dropout in training: updates whose pairs are encoded anew, and the same again after a resume. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/batches.h"

enum { PAIRS = 120 };

typedef struct Setup {
    ParallelText text;
    Tokenizer *tokenizer;
    Corpus corpus;
    EncodingDropout dropout;
} Setup;

static Lines numbers(const char *before, int step) {
    char *text = memory_alloc(PAIRS * 80, 1, "text");
    size_t used = 0;
    for (int i = 0; i < PAIRS; i++) /* a line in 40 is blank: pair numbers are not line numbers */
        used += (size_t)sprintf(text + used, i % 40 == 3 ? "\n" : "%s%d and %s %d\n", before, i, before, i * step % 50);
    Lines lines;
    lines_split(&lines, text, used);
    return lines;
}

static void start(Setup *s, double rate, int max_length) {
    *s = (Setup){.text = {.source = numbers("number", 7), .target = numbers("zahlen", 11)}};
    const Lines *texts[] = {&s->text.source, &s->text.target};
    TokenizerOptions options = tokenizer_default_options();
    options.vocab_size = 330;
    s->tokenizer = tokenizer_learn(texts, 2, &options, NULL);
    corpus_encode(&s->corpus, &s->text, s->tokenizer, s->tokenizer);
    corpus_filter(&s->corpus, &s->text, &(CorpusFilter){.max_length = max_length});
    encoding_dropout_init(&s->dropout, &s->text, s->tokenizer, s->tokenizer, rate, max_length, 5);
}

static void stop(Setup *s) {
    encoding_dropout_free(&s->dropout);
    corpus_free(&s->corpus);
    tokenizer_free(s->tokenizer);
    parallel_text_free(&s->text);
}

/* Sentence `i` of a side decodes to the line that the batch says it is. */
static void check_sentence(const Setup *s, const Packed *rows, const int *ids, int i, Line line) {
    size_t length;
    int count = packed_length(rows, i);
    assert_int_equal(ids[rows->offset[i] + count - 1], ID_EOS);
    char *text = tokenizer_decode(s->tokenizer, ids + rows->offset[i], count, &length);
    assert_int_equal(length, line.length);
    assert_memory_equal(text, line.text, length);
    memory_free(text);
}

static void check_update(const Setup *s, const Update *u, int64_t budget, int *seen) {
    int64_t source = 0, target = 0;
    int pairs = 0;
    for (int i = 0; i < u->pieces; i++) {
        const Batch *b = &u->piece[i];
        source += packed_rows(&b->source);
        target += packed_rows(&b->target);
        pairs += b->source.sentences;
        for (int j = 0; j < b->source.sentences; j++) {
            check_sentence(s, &b->source, b->source_ids, j, s->text.source.line[b->index[j]]);
            check_sentence(s, &b->target, b->target_out, j, s->text.target.line[b->index[j]]);
            seen[b->index[j]]++;
        }
    }
    assert_int_equal(pairs, u->pairs);
    assert_int_equal(source, u->source_tokens);
    assert_int_equal(target, u->target_tokens);
    assert_true(target <= budget || u->pairs == 1);
}

/* An epoch holds each pair once, in the order it has without dropout, and each update says how long it really is. */
static void test_epoch(void **state) {
    (void)state;
    Setup s;
    start(&s, 0.3, 0);
    Arena arena;
    arena_init(&arena, "test");
    Batcher b;
    batcher_init(&b, &s.corpus, 5, 0, 0);
    int seen[PAIRS] = {0}, epoch = 0;
    int64_t tokens = 0;
    for (int64_t update = 1; b.epoch == epoch; update++) {
        Update u = batcher_next(&b, encoding_dropout_start(&s.dropout, update), 200, 60, 2, &arena);
        check_update(&s, &u, 200, seen);
        tokens += u.target_tokens;
        arena_release(&arena, (ArenaMark){0});
    }
    for (int line = 0; line < PAIRS; line++) assert_int_equal(seen[line], line % 40 != 3);
    assert_true(tokens > (int64_t)s.corpus.target.ids.count * 11 / 10); /* dropout makes sentences longer */
    batcher_free(&b);
    arena_free(&arena);
    stop(&s);
}

static bool same_batch(const Batch *a, const Batch *b) {
    int rows = packed_rows(&a->target);
    return rows == packed_rows(&b->target) && packed_rows(&a->source) == packed_rows(&b->source) &&
           memcmp(a->target_out, b->target_out, (size_t)rows * sizeof(int)) == 0 &&
           memcmp(a->source_ids, b->source_ids, (size_t)packed_rows(&a->source) * sizeof(int)) == 0;
}

/* From (epoch, next) and the update's number alone, the same updates come again; another number or seed gives others. */
static void test_resume(void **state) {
    (void)state;
    Setup s, again;
    start(&s, 0.2, 0);
    start(&again, 0.2, 0);
    Arena arena;
    arena_init(&arena, "test");
    Batcher a, b;
    batcher_init(&a, &s.corpus, 5, 0, 0);
    for (int64_t update = 1; update <= 17; update++)
        batcher_next(&a, encoding_dropout_start(&s.dropout, update), 150, 60, 2, &arena);
    batcher_init(&b, &again.corpus, 5, a.epoch, a.next);
    for (int64_t update = 18; update <= 30; update++) {
        Update u = batcher_next(&a, encoding_dropout_start(&s.dropout, update), 150, 60, 2, &arena);
        Update v = batcher_next(&b, encoding_dropout_start(&again.dropout, update), 150, 60, 2, &arena);
        assert_int_equal(u.pieces, v.pieces);
        for (int i = 0; i < u.pieces; i++) assert_true(same_batch(&u.piece[i], &v.piece[i]));
    }
    int place = encoding_dropout_draw(encoding_dropout_start(&s.dropout, 7), &s.corpus, 4);
    for (int64_t other = 8; other < 30; other++) { /* update 7 against another, then the seed */
        if (other == 29) again.dropout.seed++;
        encoding_dropout_draw(encoding_dropout_start(&again.dropout, other == 29 ? 7 : other), &again.corpus, 4);
        Batch x = corpus_batch(&s.dropout.drawn, &place, 1, &arena);
        Batch y = corpus_batch(&again.dropout.drawn, &place, 1, &arena);
        assert_false(same_batch(&x, &y));
    }
    batcher_free(&a);
    batcher_free(&b);
    arena_free(&arena);
    stop(&s);
    stop(&again);
}

/* What dropout makes too long is encoded without. */
static void test_max_length(void **state) {
    (void)state;
    Setup s;
    start(&s, 0.3, 11);
    assert_in_range(s.corpus.pairs, PAIRS / 2, PAIRS);
    int plain = 0, longer = 0;
    encoding_dropout_start(&s.dropout, 1);
    for (int pair = 0; pair < s.corpus.pairs; pair++) {
        int place = encoding_dropout_draw(&s.dropout, &s.corpus, pair);
        int before = corpus_length(&s.corpus.target, pair), after = corpus_length(&s.dropout.drawn.target, place);
        assert_in_range(after, before, 11);
        plain += after == before;
        longer += after > before;
    }
    assert_true(plain > 10 && longer > 10);
    stop(&s);
}

static void test_no_dropout(void **state) {
    (void)state;
    EncodingDropout none = {0};
    assert_null(encoding_dropout_start(&none, 3));
    encoding_dropout_free(&none);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epoch),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_max_length),
        cmocka_unit_test(test_no_dropout),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
