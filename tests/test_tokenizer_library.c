/* The tokenizer against Hugging Face tokenizers, by what that library gave for a list of texts, and normalisation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/batch.h"
#include "base/memory.h"
#include "tests/support/scratch.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

static void check_decode(const Tokenizer *tokenizer, const int *ids, int count, const char *expected) {
    char *text = tokenizer_decode(tokenizer, ids, count, NULL);
    assert_string_equal(text, expected);
    memory_free(text);
}

static void check_case(const Tokenizer *tokenizer, TextEncoder *encoder, json_t *item) {
    json_t *text = json_object_get(item, "text"), *expected = json_object_get(item, "ids");
    IdList ids = {0};
    tokenizer_encode(encoder, json_string_value(text), json_string_length(text), &ids);
    if (ids.count != json_array_size(expected)) print_error("text: %s\n", json_string_value(text));
    assert_int_equal(ids.count, json_array_size(expected));
    for (size_t i = 0; i < ids.count; i++)
        assert_int_equal(ids.ids[i], json_integer_value(json_array_get(expected, i)));
    check_decode(tokenizer, ids.ids, (int)ids.count, json_string_value(json_object_get(item, "back")));
    id_list_free(&ids);
}

/* Tokenizers that the library learned, and what it made of odd texts (scripts/check_tokenizer.py). */
static void test_library_cases(void **state) {
    (void)state;
    json_t *groups = json_load_file("tests/reference/tokenizer_cases.json", 0, NULL);
    assert_int_equal(json_array_size(groups), 3);
    for (size_t g = 0; g < json_array_size(groups); g++) {
        json_t *group = json_array_get(groups, g), *cases = json_object_get(group, "cases");
        const char *path = scratch_path("tokenizer.json");
        assert_int_equal(json_dump_file(json_object_get(group, "tokenizer"), path, 0), 0);
        Error error;
        Tokenizer *tokenizer = tokenizer_load(path, &error);
        if (tokenizer == NULL) fail_msg("%s", error.text);
        TextEncoder *encoder = text_encoder_new(tokenizer);
        assert_true(json_array_size(cases) > 150);
        for (size_t i = 0; i < json_array_size(cases); i++) check_case(tokenizer, encoder, json_array_get(cases, i));
        text_encoder_free(encoder);
        tokenizer_free(tokenizer);
    }
    json_decref(groups);
}

static void test_decode(void **state) {
    (void)state;
    enum { B = ID_FIRST_BYTE };
    TokenizerOptions options = tokenizer_default_options();
    options.type = TOKENIZER_CHAR;
    options.min_frequency = 1;
    Lines lines;
    lines_split(&lines, memory_text("a", 1), 1);
    Tokenizer *tokenizer = tokenizer_learn((const Lines *const[]){&lines}, 1, &options, NULL);
    int a = tokenizer_id(tokenizer, "a"), mark = tokenizer_id(tokenizer, WORD_MARK);
    check_decode(tokenizer, NULL, 0, "");
    check_decode(tokenizer, (int[]){ID_BOS, mark, a, ID_UNK, ID_PAD, a, ID_EOS}, 7, "aa");
    check_decode(tokenizer, (int[]){a, mark, a, mark, mark}, 5, "a a  ");
    check_decode(tokenizer, (int[]){mark, mark, a}, 3, " a");
    check_decode(tokenizer, (int[]){B + ' ', a}, 2, "a"); /* the library strips after the bytes */
    check_decode(tokenizer, (int[]){a, B + 0xC3, B + 0xA9, a}, 4, "aéa");
    check_decode(tokenizer, (int[]){B + 0xC3, ID_UNK, B + 0xA9}, 3, "é");
    check_decode(tokenizer, (int[]){B + 0xC3, a, B + 0xA9}, 3, REPLACEMENT "a" REPLACEMENT);
    check_decode(tokenizer, (int[]){B + 'x', B + 0xE2, B + 0x96}, 3, REPLACEMENT REPLACEMENT REPLACEMENT);
    check_decode(tokenizer, (int[]){B + 0xE2, B + 0x96, B + 0x81}, 3, WORD_MARK);
    tokenizer_free(tokenizer);
    lines_free(&lines);
}

static void check_normalised(Normalization form, bool lowercase, const char *text, const char *expected) {
    TokenizerOptions options = tokenizer_default_options();
    options.type = TOKENIZER_BYTE;
    options.normalization = form;
    options.lowercase = lowercase;
    Lines lines;
    lines_split(&lines, memory_text("a", 1), 1);
    Tokenizer *tokenizer = tokenizer_learn((const Lines *const[]){&lines}, 1, &options, NULL);
    TextEncoder *encoder = text_encoder_new(tokenizer);
    IdList ids = {0};
    tokenizer_encode(encoder, text, strlen(text), &ids);
    check_decode(tokenizer, ids.ids, (int)ids.count, expected);
    id_list_free(&ids);
    lines_free(&lines);
    text_encoder_free(encoder);
    tokenizer_free(tokenizer);
}

static void test_normalization(void **state) {
    (void)state;
    check_normalised(NORMALIZATION_NONE, false, "e\xCC\x81 ﬁ Ä", "e\xCC\x81 ﬁ Ä");
    check_normalised(NORMALIZATION_NFC, false, "e\xCC\x81 ﬁ Ä", "é ﬁ Ä");
    check_normalised(NORMALIZATION_NFC, false, "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "한");
    check_normalised(NORMALIZATION_NFC, false, "\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"); /* excluded */
    check_normalised(NORMALIZATION_NFKC, false, "ﬁ ①\xC2\xA0ｆ ﷺ", "fi 1 f صلى الله عليه وسلم");
    check_normalised(NORMALIZATION_NONE, true, "ÄÖ ΣΊΣ ẞ", "äö σίσ ß");
    check_normalised(NORMALIZATION_NONE, true, "\xC4\xB0 I", "i\xCC\x87 i"); /* U+0130: the one that grows */
    check_normalised(NORMALIZATION_NFKC, true, "Ａ ＦＩ", "a fi");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library_cases),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_normalization),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    scratch_create();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failures != 0;
}
