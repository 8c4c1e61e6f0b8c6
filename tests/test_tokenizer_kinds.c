/* Whole words and BPE-dropout: what they promise, and dropout against a slow version of the paper's algorithm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/batch.h"
#include "base/memory.h"
#include "base/rng.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

static Tokenizer *learn(TokenizerType type, int vocab_size, const char *text, size_t length) {
    TokenizerOptions options = tokenizer_default_options();
    options.type = type;
    options.vocab_size = vocab_size;
    Lines lines;
    lines_split(&lines, memory_text(text, length), length);
    const Lines *texts[] = {&lines};
    Error error;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
    if (tokenizer == NULL) fail_msg("%s", error.text);
    lines_free(&lines);
    return tokenizer;
}

/* The pieces of a text with "|" between them. */
static void check_pieces(const Tokenizer *tokenizer, const char *text, const char *expected) {
    TextEncoder *encoder = text_encoder_new(tokenizer);
    char joined[400] = "";
    IdList ids = {0};
    tokenizer_encode(encoder, text, strlen(text), &ids);
    for (size_t i = 0; i < ids.count; i++)
        strcat(strcat(joined, i > 0 ? "|" : ""), tokenizer_piece(tokenizer, ids.ids[i]));
    assert_string_equal(joined, expected);
    id_list_free(&ids);
    text_encoder_free(encoder);
}

/* ---- whole words ---- */

static void test_words(void **state) {
    (void)state;
    static const char text[] = "the cat. the hat, the cat. once\nhat, zebra zebra x\0 x\0";
    Tokenizer *tokenizer = learn(TOKENIZER_WORD, 1000, text, sizeof text - 1);
    int first = tokenizer_id(tokenizer, "▁the");
    assert_string_equal(tokenizer_piece(tokenizer, first - 1), WORD_MARK);   /* the alphabet stands in front */
    static const char *const words[] = {"▁the", "▁cat.", "▁hat,", "▁zebra"}; /* 3 times; twice each, by their bytes */
    for (int i = 0; i < 4; i++) assert_string_equal(tokenizer_piece(tokenizer, first + i), words[i]);
    assert_int_equal(tokenizer_vocab_size(tokenizer), first + 4); /* once is too rare, a NUL has no place in the file */
    check_pieces(tokenizer, "the zebra  cat", "▁the|▁zebra|▁|▁|c|a|t");
    check_pieces(tokenizer, "thecat", "▁|t|h|e|c|a|t");
    check_pieces(tokenizer, "Q", "▁|<0x51>");
    tokenizer->whole_words = false; /* without ignore_merges only merges lead to a piece */
    check_pieces(tokenizer, "the", "▁|t|h|e");
    tokenizer_free(tokenizer);
    tokenizer = learn(TOKENIZER_WORD, 264, "ab ab aa aa aaa aaa", 19); /* room for "▁", "a" and two words */
    assert_int_equal(tokenizer_vocab_size(tokenizer), 264);
    check_pieces(tokenizer, "aa aaa ab", "▁aa|▁aaa|▁|a|<0x62>");
    tokenizer_free(tokenizer);
}

/* What is cut off a word of more than a megabyte has no "▁" in front and may read like a special piece. */
static void test_words_are_never_special(void **state) {
    (void)state;
    enum { CUT = (1 << 20) - 3 }; /* bytes, with the "▁" in front */
    Tokenizer *tokenizer = learn(TOKENIZER_WORD, 300, "aa aa", 5);
    TextEncoder *encoder = text_encoder_new(tokenizer);
    char *text = memory_alloc(CUT + 4, 1, "text");
    memset(text, 'a', CUT);
    memcpy(text + CUT, "</s>", 4);
    IdList ids = {0};
    tokenizer_encode(encoder, text, CUT + 4, &ids);
    assert_int_equal(ids.ids[ids.count - 1], ID_FIRST_BYTE + '>');
    id_list_free(&ids);
    memory_free(text);
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

/* Learned from random bytes, every piece is UTF-8. */
static void test_pieces_are_utf8(void **state) {
    (void)state;
    enum { BYTES = 20000 };
    Rng rng = {32};
    char *text = memory_alloc(BYTES, 1, "text");
    for (size_t i = 0; i < BYTES; i++) text[i] = "\xC3\xA9\xE2\x96\x81\xFF ab\n\xF0\x9F"[rng_below(&rng, 12)];
    for (TokenizerType type = TOKENIZER_BPE; type <= TOKENIZER_BYTE; type++) {
        Tokenizer *tokenizer = learn(type, 600, text, BYTES);
        assert_int_equal(tokenizer_id(tokenizer, REPLACEMENT) > 0, type != TOKENIZER_BYTE);
        for (int id = 0; id < tokenizer_vocab_size(tokenizer); id++)
            assert_true(utf8_valid(tokenizer_piece(tokenizer, id), strlen(tokenizer_piece(tokenizer, id))));
        tokenizer_free(tokenizer);
    }
    memory_free(text);
}

/* ---- dropout ---- */

static const char corpus[] =
    "abab abba aabb ba ab abc abc cab bca acb\naba bab cabba abcabc abccba\nab ab ab abab aab\n";

static Tokenizer *learn_corpus(void) { return learn(TOKENIZER_BPE, 300, corpus, sizeof corpus - 1); }

/* The lowest merge at ids[start..) that dropout leaves, or -1. Candidates are met by rank, then from left to right. */
static int naive_choose(const Tokenizer *t, const IdList *ids, size_t start, double rate, Rng *rng, size_t *place) {
    for (int rank = 0; rank < t->merge_count; rank++)
        for (*place = start; *place + 1 < ids->count; ++*place) {
            const Merge *m = &t->merges[rank];
            bool joins = ids->ids[*place] == m->left && ids->ids[*place + 1] == m->right;
            if (joins && rng_uniform(rng) >= rate) return rank;
        }
    return -1;
}

static void naive_word(const Tokenizer *t, const char *word, size_t length, double rate, Rng *rng, IdList *out) {
    size_t start = out->count, place;
    for (size_t i = 0, n; i < length; i += n) {
        int32_t code;
        n = utf8_next(word + i, length - i, &code);
        int id = string_map_find(&t->pieces, word + i, n);
        assert_true(id >= 0);
        id_list_push(out, id);
    }
    for (int rank; (rank = naive_choose(t, out, start, rate, rng, &place)) >= 0;) {
        out->ids[place] = t->merges[rank].result;
        out->count--;
        memmove(out->ids + place + 1, out->ids + place + 2, (out->count - place - 1) * sizeof *out->ids);
    }
}

static void check_dropout(const Tokenizer *t, TextEncoder *encoder, double rate, uint64_t seed, Rng *random) {
    char text[64], word[200];
    size_t length = rng_below(random, 40), used = 0;
    for (size_t i = 0; i < length; i++) text[i] = "aabbc "[rng_below(random, 6)];
    IdList fast = {0}, slow = {0};
    Rng rng = {seed};
    tokenizer_encode_dropout(encoder, text, length, rate, seed, &fast);
    for (size_t i = 0; length > 0 && i <= length; i++) {
        bool ends = i == length || text[i] == ' ';
        if (used == 0) used = strlen(strcpy(word, WORD_MARK));
        if (!ends) word[used++] = text[i];
        if (!ends) continue;
        naive_word(t, word, used, rate, &rng, &slow);
        used = 0;
    }
    assert_int_equal(fast.count, slow.count);
    if (fast.count > 0) assert_memory_equal(fast.ids, slow.ids, fast.count * sizeof *fast.ids);
    size_t back_length;
    char *back = tokenizer_decode(t, fast.ids, (int)fast.count, &back_length);
    assert_int_equal(back_length, length);
    assert_memory_equal(back, text, length);
    memory_free(back);
    id_list_free(&fast);
    id_list_free(&slow);
}

static void test_dropout_against_naive(void **state) {
    (void)state;
    static const double rates[] = {0, 0.1, 0.5, 0.9};
    Tokenizer *tokenizer = learn_corpus();
    assert_in_range(tokenizer->merge_count, 10, 40);
    TextEncoder *encoder = text_encoder_new(tokenizer);
    Rng random = {31};
    for (uint64_t i = 0; i < 4000; i++) check_dropout(tokenizer, encoder, rates[i % 4], i, &random);
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

static bool equal_ids(const IdList *a, const IdList *b) {
    return a->count == b->count && memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0;
}

/* Rate 0 is no dropout; the seed decides, not what was encoded before. */
static void test_dropout_is_a_function(void **state) {
    (void)state;
    static const char text[] = "abab abcabc cabba aabb";
    Tokenizer *tokenizer = learn_corpus();
    TextEncoder *encoder = text_encoder_new(tokenizer), *other = text_encoder_new(tokenizer);
    IdList plain = {0}, none = {0};
    tokenizer_encode(encoder, text, sizeof text - 1, &plain);
    tokenizer_encode_dropout(encoder, text, sizeof text - 1, 0, 5, &none);
    assert_true(equal_ids(&plain, &none));
    int differ = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        IdList a = {0}, b = {0};
        tokenizer_encode_dropout(encoder, text, sizeof text - 1, 0.3, seed, &a);
        tokenizer_encode_dropout(other, text, sizeof text - 1, 0.3, 50 - seed, &b);
        b.count = 0;
        tokenizer_encode_dropout(other, text, sizeof text - 1, 0.3, seed, &b);
        assert_true(equal_ids(&a, &b));
        differ += !equal_ids(&a, &plain);
        id_list_free(&a);
        id_list_free(&b);
    }
    assert_in_range(differ, 40, 50);
    id_list_free(&plain);
    id_list_free(&none);
    text_encoder_free(encoder);
    text_encoder_free(other);
    tokenizer_free(tokenizer);
}

/* "▁a" with one merge stays apart with probability `rate`. */
static void test_dropout_rate(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    Tokenizer *tokenizer = learn(TOKENIZER_BPE, 264, "a a a", 5);
    assert_int_equal(tokenizer->merge_count, 1);
    TextEncoder *encoder = text_encoder_new(tokenizer);
    int apart = 0;
    IdList ids = {0};
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        ids.count = 0;
        tokenizer_encode_dropout(encoder, "a", 1, 0.25, hash64(seed), &ids);
        apart += ids.count == 2;
    }
    assert_in_range(apart, DRAWS / 4 - 250, DRAWS / 4 + 250); /* four standard deviations are 245 */
    id_list_free(&ids);
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_are_never_special),
        cmocka_unit_test(test_pieces_are_utf8),
        cmocka_unit_test(test_dropout_against_naive),
        cmocka_unit_test(test_dropout_is_a_function),
        cmocka_unit_test(test_dropout_rate),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
