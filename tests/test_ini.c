/* The INI reader: what it accepts, each mistake with its line, and that no bytes upset it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ini.h"
#include "base/memory.h"
#include "base/rng.h"

static const char good[] = "\xEF\xBB\xBF# comment\n"
                           "; another\r\n"
                           "\n"
                           "  [data]  # of a run\r\n"
                           "train = a/b.txt\n"
                           "\tindented\t=  two words  ; and a comment\n"
                           "hash = a#b;c\n"
                           "quoted = \" x # \\\"y\\\" \\\\ \" # comment\n"
                           "empty =\n"
                           "empty_too = # nothing\n"
                           "equals = a=b\n"
                           "caf\xC3\xA9_is_no_key_but_a_value = x\n" /* line 12: a mistake */
                           "utf8 = caf\xC3\xA9 \xFF\n"
                           "[a-b.c_9]\n"
                           "train = last, without line end";

static const char *value_of(const Ini *ini, const char *section, const char *key) {
    for (int i = 0; i < ini->entries; i++)
        if (strcmp(ini->entry[i].section, section) == 0 && strcmp(ini->entry[i].key, key) == 0)
            return ini->entry[i].value;
    return NULL;
}

static void test_values(void **state) {
    (void)state;
    Ini ini;
    Error error;
    ini_parse(&ini, "x.ini", good, sizeof good - 1);
    assert_int_equal(ini.mistakes, 1);
    assert_false(ini_report(&ini, &error));
    assert_string_equal(error.text, "x.ini:12: \"caf\xC3\xA9_is_no_key_but_a_value\" is no key; use letters, "
                                    "digits, _ . -");
    assert_string_equal(value_of(&ini, "data", "train"), "a/b.txt");
    assert_string_equal(value_of(&ini, "data", "indented"), "two words");
    assert_string_equal(value_of(&ini, "data", "hash"), "a#b;c");
    assert_string_equal(value_of(&ini, "data", "quoted"), " x # \"y\" \\ ");
    assert_string_equal(value_of(&ini, "data", "empty"), "");
    assert_string_equal(value_of(&ini, "data", "empty_too"), "");
    assert_string_equal(value_of(&ini, "data", "equals"), "a=b");
    assert_string_equal(value_of(&ini, "data", "utf8"), "caf\xC3\xA9 \xFF");
    assert_string_equal(value_of(&ini, "a-b.c_9", "train"), "last, without line end");
    assert_int_equal(ini.entry[1].line, 6);
    assert_int_equal(ini.section[1].line, 14);
    ini_free(&ini);
}

static void test_long_line(void **state) {
    (void)state;
    enum { LONG = 300000 };
    char *text = malloc(LONG + 16);
    strcpy(text, "[s]\nk = ");
    memset(text + 8, 'x', LONG);
    Ini ini;
    ini_parse(&ini, "x.ini", text, LONG + 8);
    assert_int_equal(ini.mistakes, 0);
    assert_int_equal(strlen(ini.entry[0].value), LONG);
    ini_free(&ini);
    free(text);
}

/* Each text has exactly one mistake. */
static void test_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t size; /* 0: up to the NUL */
        const char *message;
    } cases[] = {
        {"key = 1\n", 0, "x.ini:1: key \"key\" stands before the first section; put [section] above it"},
        {"[a]\nword\n", 0, "x.ini:2: \"word\" is neither [section] nor key = value; start a comment with #"},
        {"[a\n", 0, "x.ini:1: \"[a\" has no closing ]; write [section]"},
        {"[]\n", 0, "x.ini:1: \"\" is no section name; use letters, digits, _ . -"},
        {"[a b]\nk=1\n", 0, "x.ini:1: \"a b\" is no section name; use letters, digits, _ . -"},
        {"[a] k = 1\n", 0, "x.ini:1: \"k = 1\" follows the section's ]; put it on a line of its own"},
        {"[a]\n= 1\n", 0, "x.ini:2: \"\" is no key; use letters, digits, _ . -"},
        {"[a]\nb c = 1\n", 0, "x.ini:2: \"b c\" is no key; use letters, digits, _ . -"},
        {"[a]\nk = \"x\n", 0, "x.ini:2: the value \"x has no closing quote; end it with \""},
        {"[a]\nk = \"\\\"\n", 0, "x.ini:2: the value \"\\\" has no closing quote; end it with \""},
        {"[a]\nk = \"x\" y\n", 0, "x.ini:2: \"y\" follows the closing quote; a quote inside is written \\\""},
        {"[a]\nk = \"x\"#y\n", 0, "x.ini:2: \"#y\" follows the closing quote; a quote inside is written \\\""},
        {"[a]\nk = x\0y\n", 12, "x.ini:2: byte 0x00 in column 6 is no text; remove it"},
        {"[a]\nk = \x1B[0m\n", 0, "x.ini:2: byte 0x1B in column 5 is no text; remove it"},
        {"[a]\n# \x7F\n", 0, "x.ini:2: byte 0x7F in column 3 is no text; remove it"},
        {"[a]\nk=1\rj=2\n", 0, "x.ini:2: byte 0x0D in column 4 is no text; remove it"},
        {"[a]\nk=1\nj=2\nk=1\n", 0, "x.ini:4: [a] k was given in line 2 already; keep one of them"},
        {"[a]\n[b]\n[a]\n", 0, "x.ini:3: section [a] was opened in line 1 already; put its keys there"},
        {"[a]\n\xFF\xC3\n", 0, "x.ini:2: \"\\xFF\\xC3\" is neither [section] nor key = value; start a comment with #"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Ini ini;
        Error error;
        ini_parse(&ini, "x.ini", cases[i].text, cases[i].size ? cases[i].size : strlen(cases[i].text));
        assert_false(ini_report(&ini, &error));
        assert_string_equal(error.text, cases[i].message);
        ini_free(&ini);
    }
}

static void test_too_large(void **state) {
    (void)state;
    char *text = calloc(INI_MOST_BYTES + 1, 1);
    Ini ini;
    Error error;
    ini_parse(&ini, "x.ini", text, INI_MOST_BYTES + 1);
    assert_false(ini_report(&ini, &error));
    assert_string_equal(error.text, "x.ini: has 1048577 bytes, more than the 1048576 of any configuration; is it "
                                    "the right file?");
    ini_free(&ini);
    free(text);
}

/* More mistakes than an Error holds: the first ones, whole, and a count; in order of lines. */
static void test_many_mistakes(void **state) {
    (void)state;
    char text[4000];
    memset(text, '\n', sizeof text);
    for (size_t i = 0; i + 1 < sizeof text; i += 2) text[i] = 'x';
    Ini ini;
    Error error;
    ini_parse(&ini, "x.ini", text, sizeof text);
    assert_int_equal(ini.mistakes, 2000);
    ini_mistake(&ini, 1, "x.ini:1: added later");
    assert_false(ini_report(&ini, &error));
    const char *second = strchr(error.text, '\n') + 1, *last = strrchr(error.text, '\n') + 1;
    assert_memory_equal(second, "x.ini:1: added later\nx.ini:2: ", 30);
    int shown = 0, more = 0;
    for (const char *p = error.text; *p; p++) shown += *p == '\n';
    assert_int_equal(sscanf(last, "and %d more mistakes; correct these first", &more), 1);
    assert_int_equal(shown + more, 2001);
    ini_free(&ini);
}

/* A megabyte of different keys, or of sections, is read in less than a blink. */
static void test_many_keys(void **state) {
    (void)state;
    char *text = malloc(INI_MOST_BYTES);
    size_t used = (size_t)sprintf(text, "[a]\n");
    int n = 0;
    while (used < INI_MOST_BYTES - 32) used += (size_t)sprintf(text + used, n % 2 ? "k%d=\n" : "[s%d]\n", n / 2), n++;
    Ini ini;
    ini_parse(&ini, "x.ini", text, used);
    assert_int_equal(ini.mistakes, 0);
    assert_int_equal(ini.sections + ini.entries, n + 1);
    ini_free(&ini);
    free(text);
}

static void test_value_text(void **state) {
    (void)state;
    static const char *const values[] = {"",    "a",  "a b",   " a",   "a ",    "#a",     ";",      "a #b",
                                         "a#b", "\"", "\"a\"", "a\"b", "\\",    " \\\" ", "\\\"",   "a\t;b\\",
                                         "\t",  "=",  "[x]",   "\xFF", "\" # ", "a\\",    "\\\\ #", "a\t#"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char line[128], *text = ini_value_text(values[i]);
        snprintf(line, sizeof line, "[s]\nk = %s\n", text);
        memory_free(text);
        Ini ini;
        ini_parse(&ini, "x.ini", line, strlen(line));
        assert_int_equal(ini.mistakes, 0);
        assert_string_equal(ini.entry[0].value, values[i]);
        ini_free(&ini);
    }
}

static void test_quote(void **state) {
    (void)state;
    char out[80], long_text[1000];
    assert_string_equal(ini_quote(out, "a\n\x01\xC3\xA9\xC3", 6), "a\\x0A\\x01\xC3\xA9\\xC3");
    assert_string_equal(ini_quote(out, "\xED\xA0\x80\xF4\x90\x80\x80\xC0\x80", 9),
                        "\\xED\\xA0\\x80\\xF4\\x90\\x80\\x80\\xC0\\x80"); /* surrogate, too large, too long */
    for (size_t fill = 0; fill < 3; fill++) {
        for (size_t i = 0; i < sizeof long_text; i++)
            long_text[i] = "a\xFF\xF0\x9F\x98\x80"[fill == 2 ? 2 + i % 4 : fill];
        const char *text = ini_quote(out, long_text, sizeof long_text);
        assert_true(strlen(text) < 72);
        assert_string_equal(text + strlen(text) - 3, "...");
    }
}

static void test_any_bytes(void **state) {
    (void)state;
    Rng rng = {17};
    char text[sizeof good + 8];
    for (int round = 0; round < 2000; round++) {
        size_t size = sizeof good - 1;
        memcpy(text, good, size);
        int changes = 1 + (int)rng_below(&rng, 8);
        for (int i = 0; i < changes; i++) {
            static const char special[] = "\n\r\"\\[]=#; \t\0\xFF";
            size_t at = rng_below(&rng, size);
            text[at] = rng_below(&rng, 2) ? special[rng_below(&rng, sizeof special - 1)] : (char)rng_next(&rng);
        }
        if (rng_below(&rng, 4) == 0) size = rng_below(&rng, size);
        char *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read behind the end */
        memcpy(exact, text, size);
        Ini ini;
        Error error;
        ini_parse(&ini, "x.ini", exact, size);
        ini_report(&ini, &error);
        assert_true(ini.entries + ini.sections <= 15);
        ini_free(&ini);
        free(exact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_long_line),     cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_too_large),  cmocka_unit_test(test_many_mistakes), cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_value_text), cmocka_unit_test(test_quote),         cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
