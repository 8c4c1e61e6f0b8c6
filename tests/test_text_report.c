/* Reports on a text (what is not UTF-8, what normalisation changes), and ids as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/scratch.h"
#include "tokenizer/id_text.h"
#include "tokenizer/text_report.h"

#define LINES_OF(text) lines_of(text, sizeof text - 1)
static Lines lines_of(const char *text, size_t length) {
    Lines lines;
    lines_split(&lines, memory_text(text, length), length);
    return lines;
}

static void check_invalid(Lines lines, const char *expected) {
    char report[TEXT_REPORT_BYTES];
    assert_int_equal(text_report_invalid(report, "f.txt", &lines), expected != NULL);
    if (expected != NULL) assert_string_equal(report, expected);
    lines_free(&lines);
}

static void test_invalid(void **state) {
    (void)state;
    check_invalid(LINES_OF("good\nzürich \xF0\x9F\x98\x80\n\n"), NULL);
    check_invalid(LINES_OF("good\nz\xC3\xBC\xFFx\n\xFF\nok\n"), "f.txt:2:4: not UTF-8 (2 such lines)");
    check_invalid(LINES_OF("a\n\nbc\xE2\x96"), "f.txt:3:3: not UTF-8 (1 such line)"); /* breaks off */
    check_invalid(LINES_OF("\xEF\xBB\xBF"
                           "ab\xFF\n"),
                  "f.txt:1:6: not UTF-8 (1 such line)"); /* in the file, whose byte order mark counts */
    check_invalid(LINES_OF("\xED\xA0\x80"), "f.txt:1:1: not UTF-8 (1 such line)"); /* a surrogate */
    check_invalid(LINES_OF("x\xC0\x80"), "f.txt:1:2: not UTF-8 (1 such line)");    /* overlong */
    check_invalid(LINES_OF("x\xF5z"), "f.txt:1:2: not UTF-8 (1 such line)");       /* above U+10FFFF */
}

static void check_changes(Lines lines, Normalization form, bool lowercase, const char *expected) {
    char report[TEXT_REPORT_BYTES];
    text_report_changes(report, &lines, form, lowercase);
    assert_string_equal(report, expected);
    lines_free(&lines);
}

static void test_changes(void **state) {
    (void)state;
    check_changes(LINES_OF("caf\xC3\xA9 x\nplain\n"), NORMALIZATION_NFC, false, "nfc: none of 2 lines changed");
    check_changes(LINES_OF("one\na caf\145\xCC\x81 x\ne\xCC\x81"), NORMALIZATION_NFC, false,
                  "nfc: 2 of 3 lines changed; line 2: \"caf\145\xCC\x81\" becomes \"caf\xC3\xA9\", U+0065 to U+00E9");
    check_changes(LINES_OF("Nummer\xC2\xA0"
                           "28. x"),
                  NORMALIZATION_NFKC, false,
                  "nfkc: 1 of 1 lines changed; line 1: \"Nummer\xC2\xA0"
                  "28.\" becomes \"Nummer 28.\", U+00A0 to U+0020");
    check_changes(LINES_OF("a B\n"), NORMALIZATION_NFKC, true,
                  "nfkc and lowercase: 1 of 1 lines changed; line 1: \"B\" becomes \"b\", U+0042 to U+0062");
    check_changes(LINES_OF("\xFF a"), NORMALIZATION_NFC, false, "nfc: none of 1 lines changed"); /* another report */
}

/* ---- ids as text ---- */

static Tokenizer *learn(void) {
    Lines lines = LINES_OF("the cat the hat the cat");
    const Lines *texts[] = {&lines};
    TokenizerOptions options = tokenizer_default_options();
    options.vocab_size = 275;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, NULL);
    assert_non_null(tokenizer);
    lines_free(&lines);
    return tokenizer;
}

static void write_ids(const char *path, const Tokenizer *tokenizer, const IdList *ids, IdForm form) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    id_text_write(file, tokenizer, ids, form);
    fclose(file);
}

static void test_ids_as_text(void **state) {
    (void)state;
    scratch_create();
    Tokenizer *tokenizer = learn();
    IdList ids = {0};
    static const int all[] = {0, 3, 7, 262, 10, 99, 271};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) id_list_push(&ids, all[i]);
    for (IdForm form = ID_FORM_PIECES; form <= ID_FORM_NUMBERS; form++) {
        size_t size;
        write_ids(scratch_path("ids"), tokenizer, &ids, form);
        char *text = scratch_read(scratch_path("ids"), &size);
        if (form == ID_FORM_NUMBERS) assert_string_equal(text, "0 3 7 262 10 99 271");
        IdList back = {0};
        Error error;
        assert_true(id_text_read(&back, tokenizer, (Line){text, size}, form, &error));
        assert_int_equal(back.count, ids.count);
        assert_memory_equal(back.ids, ids.ids, ids.count * sizeof *ids.ids);
        id_list_free(&back);
        free(text);
    }
    id_list_free(&ids);
    tokenizer_free(tokenizer);
    scratch_remove();
}

static void check_read(const Tokenizer *tokenizer, const char *text, IdForm form, const char *expected) {
    IdList ids = {0};
    Error error = {""};
    bool good = id_text_read(&ids, tokenizer, (Line){text, strlen(text)}, form, &error);
    assert_int_equal(good, expected == NULL);
    if (expected != NULL && strstr(error.text, expected) == NULL) fail_msg("\"%s\": no %s", error.text, expected);
    if (good) assert_int_equal(ids.count, strcmp(text, "") == 0 ? 0 : 2);
    id_list_free(&ids);
}

static void test_ids_from_wrong_text(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn();
    check_read(tokenizer, "", ID_FORM_NUMBERS, NULL);
    check_read(tokenizer, "  5   6 ", ID_FORM_NUMBERS, NULL);
    check_read(tokenizer, "5 272", ID_FORM_NUMBERS, "\"272\" is no id; give numbers from 0 to 271");
    check_read(tokenizer, "99999999999999999999999999999999", ID_FORM_NUMBERS, "is no id");
    check_read(tokenizer, "-1", ID_FORM_NUMBERS, "\"-1\" is no id");
    check_read(tokenizer, "5\t6", ID_FORM_NUMBERS, "is no id");
    check_read(tokenizer, "5x", ID_FORM_NUMBERS, "is no id");
    check_read(tokenizer, "<0x41>  t", ID_FORM_PIECES, NULL);
    check_read(tokenizer, "t nonsense", ID_FORM_PIECES, "\"nonsense\" is no piece of the vocabulary");
    tokenizer_free(tokenizer);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_ids_as_text),
        cmocka_unit_test(test_ids_from_wrong_text),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
