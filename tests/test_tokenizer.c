/* The tokenizer: text comes back, in time and for any bytes, and the vocabulary is what it promises to be. */
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
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

static const char *const corpus[] = {
    "Ein kleines Mädchen klettert in ein Spielhaus aus Holz.",
    "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche.",
    "A little girl climbing into a wooden playhouse, climbing and climbing.",
    "Two young, White males are outside near many bushes. It's 3.14, isn't it?",
    "Ein Mann in blauem Hemd steht auf einer Leiter und putzt ein Fenster; 1999-2000.",
    "A man in a blue shirt is standing on a ladder cleaning a window.  He doesn't stop!",
    "हिन्दी क्‍ष हिन्दी 日本語 日本 ❤️ ❤️ שלום שלום",
};

static Lines lines_of(const char *text, size_t length) {
    Lines lines;
    lines_split(&lines, memory_text(text, length), length);
    return lines;
}

static Lines corpus_lines(void) {
    char text[4096] = "";
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) strcat(strcat(text, corpus[i]), "\n");
    return lines_of(text, strlen(text));
}

static Tokenizer *learn(TokenizerOptions options) {
    Lines lines = corpus_lines();
    const Lines *texts[] = {&lines};
    Error error;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
    if (tokenizer == NULL) fail_msg("%s", error.text);
    lines_free(&lines);
    return tokenizer;
}

static TokenizerOptions options_of(TokenizerType type, int vocab_size) {
    TokenizerOptions options = tokenizer_default_options();
    options.type = type;
    options.vocab_size = vocab_size;
    return options;
}

/* Encodes and decodes, and compares with `expected`. */
static void check_round_trip(TextEncoder *encoder, const Tokenizer *tokenizer, const char *text, size_t length,
                             const char *expected, size_t expected_length) {
    IdList ids = {0};
    tokenizer_encode(encoder, text, length, &ids);
    for (size_t i = 0; i < ids.count; i++)
        assert_true(ids.ids[i] >= ID_FIRST_BYTE && ids.ids[i] < tokenizer_vocab_size(tokenizer));
    size_t back_length;
    char *back = tokenizer_decode(tokenizer, ids.ids, (int)ids.count, &back_length);
    assert_int_equal(back_length, expected_length);
    assert_memory_equal(back, expected, expected_length);
    assert_int_equal(back[back_length], '\0');
    memory_free(back);
    id_list_free(&ids);
}

/* ---- text comes back ---- */

#define TEXT(literal) \
    { literal, sizeof literal - 1 }
static const struct {
    const char *text;
    size_t length;
} odd_texts[] = {
    TEXT(""),
    TEXT(" "),
    TEXT("     "),
    TEXT("  a   b  "),
    TEXT("\t a\tb \t"),
    TEXT("a\0b\0"),
    TEXT("\0"),
    TEXT("\x01\x1f\x7f\r\x0b\x0c"),
    TEXT("a\nb"),
    TEXT("</s><s><unk><pad> <0x41><0x0A>"),
    TEXT("👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 ❤️ 🇩🇪"),
    TEXT("e\xCC\x81 \xCC\x81 a\xCC\x88\xCC\xA3 x\xCC\xA3\xCC\x88"),
    TEXT("שלום עולם مرحبا می‌خواهم \xE2\x80\xAB"
         "abc\xE2\x80\xAC"),
    TEXT("日本語のテキスト 中文，標點。 한국어 ไทย"),
    TEXT("a\xC2\xA0"
         "b\xE3\x80\x80"
         "c\xE2\x80\xAF"
         "d\xE2\x80\xA8"
         "e\xE2\x80\x8B"
         "f\xEF\xBB\xBF"),
    TEXT("\xEF\xBF\xBD \xEF\xBF\xBE \xF4\x8F\xBF\xBF \xED\x9F\xBF"),
    TEXT("Ein kleines Mädchen, don't stop; 3.14!"),
};

static void test_round_trip(void **state) {
    (void)state;
    static const TokenizerType types[] = {TOKENIZER_BPE, TOKENIZER_CHAR, TOKENIZER_BYTE};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        Tokenizer *tokenizer = learn(options_of(types[t], 400));
        TextEncoder *encoder = text_encoder_new(tokenizer);
        for (int repeat = 0; repeat < 2; repeat++) /* once more out of the cache */
            for (size_t i = 0; i < sizeof odd_texts / sizeof *odd_texts; i++)
                check_round_trip(encoder, tokenizer, odd_texts[i].text, odd_texts[i].length, odd_texts[i].text,
                                 odd_texts[i].length);
        text_encoder_free(encoder);
        tokenizer_free(tokenizer);
    }
}

/* A random valid character, of any length in UTF-8; not U+2581. */
static int32_t random_code(Rng *rng) {
    static const int32_t limits[] = {0x80, 0x80, 0x250, 0x800, 0x3000, 0x10000, CODE_LIMIT};
    int32_t code;
    do code = (int32_t)rng_below(rng, (uint64_t)limits[rng_below(rng, 7)]);
    while ((code >= 0xD800 && code < 0xE000) || code == CODE_WORD_MARK);
    return rng_below(rng, 5) == 0 ? ' ' : code;
}

static void test_random_round_trip(void **state) {
    (void)state;
    Rng rng = {1};
    Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, 450));
    TextEncoder *encoder = text_encoder_new(tokenizer);
    for (int i = 0; i < 20000; i++) {
        char text[200];
        size_t length = 0;
        for (uint64_t n = rng_below(&rng, 40); n > 0; n--) length += utf8_put(text + length, random_code(&rng));
        check_round_trip(encoder, tokenizer, text, length, text, length);
    }
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

static void test_word_mark_becomes_space(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, 400));
    TextEncoder *encoder = text_encoder_new(tokenizer);
    check_round_trip(encoder, tokenizer, WORD_MARK "a" WORD_MARK, 7, " a ", 3);
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

/* Replacement as in Python's bytes.decode("utf-8", "replace"). */
static void test_invalid_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int replacements; /* then follows "z" */
    } cases[] = {{"\x80z", 1},         {"\xFF\xFEz", 2},         {"\xC3z", 1},         {"\xC0\x80z", 2},
                 {"\xE2\x82z", 1},     {"\xE2\x28\xA1z", -1},    {"\xF0\x9F\x98z", 1}, {"\xF0\x9Fz", 1},
                 {"\xED\xA0\x80z", 3}, {"\xF4\x90\x80\x80z", 4}, {"\xE0\x80\xAFz", 3}, {"\xF8\x88\x80z", 3}};
    Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, 400));
    TextEncoder *encoder = text_encoder_new(tokenizer);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[32] = "";
        for (int r = 0; r < cases[i].replacements; r++) strcat(expected, REPLACEMENT);
        strcat(expected, "z");
        if (cases[i].replacements < 0) strcpy(expected, REPLACEMENT "(" REPLACEMENT "z");
        check_round_trip(encoder, tokenizer, cases[i].text, strlen(cases[i].text), expected, strlen(expected));
    }
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

static void test_any_bytes(void **state) {
    (void)state;
    Rng rng = {2};
    for (int normalization = NORMALIZATION_NONE; normalization <= NORMALIZATION_NFKC; normalization++) {
        TokenizerOptions options = options_of(TOKENIZER_BPE, 400);
        options.normalization = (Normalization)normalization;
        options.lowercase = normalization == NORMALIZATION_NFC;
        Tokenizer *tokenizer = learn(options);
        TextEncoder *encoder = text_encoder_new(tokenizer);
        for (int i = 0; i < 3000; i++) {
            char text[64];
            size_t length = rng_below(&rng, sizeof text), back_length;
            for (size_t b = 0; b < length; b++) text[b] = (char)(rng_below(&rng, 4) ? rng_next(&rng) : 0xE2);
            IdList ids = {0};
            tokenizer_encode(encoder, text, length, &ids);
            char *back = tokenizer_decode(tokenizer, ids.ids, (int)ids.count, &back_length);
            assert_true(utf8_valid(back, back_length));
            memory_free(back);
            id_list_free(&ids);
        }
        text_encoder_free(encoder);
        tokenizer_free(tokenizer);
    }
}

/* A word with no end takes n log n time: this would never end if it were n squared. */
static void test_long_words(void **state) {
    (void)state;
    enum { LENGTH = 3000000 };
    Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, 450));
    TextEncoder *encoder = text_encoder_new(tokenizer);
    char *text = memory_alloc(LENGTH, 1, "text");
    Rng rng = {3};
    for (size_t i = 0; i < LENGTH; i++) text[i] = "einnrst"[rng_below(&rng, 7)];
    check_round_trip(encoder, tokenizer, text, LENGTH, text, LENGTH);
    for (size_t i = 0; i < LENGTH; i++) text[i] = "\xE6\x97\xA5"[i % 3]; /* is cut at whole characters */
    check_round_trip(encoder, tokenizer, text, LENGTH, text, LENGTH);
    IdList ids = {0};
    tokenizer_encode(encoder, text, LENGTH, &ids);
    for (size_t i = 0; i < ids.count; i++) assert_true(ids.ids[i] >= ID_FIRST_PIECE);
    id_list_free(&ids);
    memory_free(text);
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

/* Marks in the wrong order, hundreds of thousands of them: normalisation is not quadratic either. */
static void test_many_marks(void **state) {
    (void)state;
    enum { PAIRS = 300000 };
    TokenizerOptions options = options_of(TOKENIZER_BPE, 400);
    options.normalization = NORMALIZATION_NFC;
    Tokenizer *tokenizer = learn(options);
    TextEncoder *encoder = text_encoder_new(tokenizer);
    char *text = memory_alloc(PAIRS * 4, 1, "text"), *sorted = memory_alloc(PAIRS * 4, 1, "text");
    for (size_t i = 0; i < PAIRS; i++) {
        memcpy(text + i * 4, "\xCC\x81\xCC\xA3", 4); /* U+0301 class 230, U+0323 class 220 */
        memcpy(sorted + i * 2, "\xCC\xA3", 2);
        memcpy(sorted + PAIRS * 2 + i * 2, "\xCC\x81", 2);
    }
    check_round_trip(encoder, tokenizer, text, PAIRS * 4, sorted, PAIRS * 4);
    memory_free(text);
    memory_free(sorted);
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

/* More distinct words than the cache holds. */
static void test_full_cache(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, 400));
    TextEncoder *encoder = text_encoder_new(tokenizer);
    for (int i = 0; i < 150000; i++) {
        char word[16];
        int length = snprintf(word, sizeof word, "%x", i * 7);
        check_round_trip(encoder, tokenizer, word, (size_t)length, word, (size_t)length);
    }
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

/* ---- the vocabulary ---- */

static void test_fixed_pieces(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, 400));
    assert_string_equal(tokenizer_piece(tokenizer, ID_BOS), "<s>");
    assert_string_equal(tokenizer_piece(tokenizer, ID_PAD), "<pad>");
    assert_string_equal(tokenizer_piece(tokenizer, ID_EOS), "</s>");
    assert_string_equal(tokenizer_piece(tokenizer, ID_UNK), "<unk>");
    assert_string_equal(tokenizer_piece(tokenizer, ID_FIRST_BYTE), "<0x00>");
    assert_string_equal(tokenizer_piece(tokenizer, ID_FIRST_PIECE - 1), "<0xFF>");
    for (int id = 0; id < tokenizer_vocab_size(tokenizer); id++)
        assert_int_equal(tokenizer_id(tokenizer, tokenizer_piece(tokenizer, id)), id);
    assert_int_equal(tokenizer_id(tokenizer, "no such piece"), -1);
    tokenizer_free(tokenizer);
}

static void test_sizes(void **state) {
    (void)state;
    for (int size = 261; size < 375; size += 13) {
        Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, size));
        assert_int_equal(tokenizer_vocab_size(tokenizer), size);
        assert_true(tokenizer_id(tokenizer, WORD_MARK) >= 0);
        int characters = 0;
        for (int id = ID_FIRST_PIECE; id < size; id++) {
            const char *piece = tokenizer_piece(tokenizer, id);
            int32_t code;
            characters += utf8_next(piece, strlen(piece), &code) == strlen(piece);
        }
        int half = (size - ID_FIRST_PIECE) / 2;
        assert_in_range(characters, 1, half > 1 ? half : 1);
        tokenizer_free(tokenizer);
    }
    Tokenizer *tokenizer = learn(options_of(TOKENIZER_BPE, 100000)); /* the text has no more pairs */
    assert_in_range(tokenizer_vocab_size(tokenizer), 375, 400);
    tokenizer_free(tokenizer);
    tokenizer = learn(options_of(TOKENIZER_BYTE, 0));
    assert_int_equal(tokenizer_vocab_size(tokenizer), 261);
    tokenizer_free(tokenizer);
}

static void test_learning_errors(void **state) {
    (void)state;
    TokenizerOptions options = options_of(TOKENIZER_BPE, 260);
    Error error;
    Lines lines = corpus_lines(), empty = lines_of("\n\n", 2);
    const Lines *texts[] = {&lines}, *none[] = {&empty};
    assert_null(tokenizer_learn(texts, 1, &options, &error));
    assert_non_null(strstr(error.text, "vocab_size = 260"));
    options.vocab_size = 300;
    assert_null(tokenizer_learn(none, 1, &options, &error));
    assert_non_null(strstr(error.text, "empty"));
    assert_null(tokenizer_learn(texts, 0, &options, &error));
    lines_free(&lines);
    lines_free(&empty);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_random_round_trip),
        cmocka_unit_test(test_word_mark_becomes_space),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_many_marks),
        cmocka_unit_test(test_full_cache),
        cmocka_unit_test(test_fixed_pieces),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_learning_errors),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
