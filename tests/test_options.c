/* Command lines read by a table: kinds of values, mistakes, the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

typedef struct Fields {
    bool flag, set[3];
    int whole, choice;
    double real;
    const char *text;
    OptionList list;
} Fields;

static const Option table[] = {
    {"flag", NULL, OPTION_FLAG, offsetof(Fields, flag), 0, 0, NULL, "a flag"},
    {"whole", "N", OPTION_WHOLE, offsetof(Fields, whole), -2, 2147483647, NULL, "a number"},
    {"real", "X", OPTION_REAL, offsetof(Fields, real), 0, 0.5, NULL, "another"},
    {"text", "FILE", OPTION_TEXT, offsetof(Fields, text), 0, 0, NULL, "a path"},
    {"list", "TEXT", OPTION_LIST, offsetof(Fields, list), 0, 0, NULL, "texts"},
    {"choice", "", OPTION_CHOICE, offsetof(Fields, choice), 0, 0, "one|two|three", "a word"},
    {"set", "S", OPTION_WORDS, offsetof(Fields, set), 0, 0, "one|two|three", "words"},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

/* Parses the words of a line, which may be changed by it; the arguments that are left are `rest`. */
static bool parse(Fields *f, const char *line, bool *given, char *rest, Error *error) {
    static char words[256];
    char *argv[32] = {(char[]){"program"}}, *save = NULL;
    int argc = 1, first;
    strcpy(words, line);
    for (char *word = strtok_r(words, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) argv[argc++] = word;
    optind = 0; /* getopt starts anew */
    *f = (Fields){.whole = 7};
    if (!options_parse(f, table, OPTIONS, argc, argv, given, &first, error)) return false;
    rest[0] = '\0';
    for (int i = first; i < argc; i++) strcat(strcat(rest, argv[i]), " ");
    return true;
}

static void test_values(void **state) {
    (void)state;
    Fields f;
    Error error;
    bool given[OPTIONS] = {false};
    char rest[256];
    assert_true(parse(&f, "a --flag --whole=-2 b --real 0.25 --text --x --list one --choice three --list --two c",
                      given, rest, &error));
    assert_string_equal(rest, "a b c ");
    assert_true(f.flag && f.whole == -2 && f.real == 0.25 && f.choice == 2);
    assert_string_equal(f.text, "--x");
    assert_true(f.list.count == 2 && strcmp(f.list.text[0], "one") == 0 && strcmp(f.list.text[1], "--two") == 0);
    for (int i = 0; i < OPTIONS; i++) assert_int_equal(given[i], i != OPTIONS - 1);
    assert_true(parse(&f, "--whole 2147483647 -- --flag", NULL, rest, &error));
    assert_true(f.whole == 2147483647 && !f.flag);
    assert_string_equal(rest, "--flag ");
}

static void test_sets(void **state) {
    (void)state;
    Fields f;
    Error error;
    char rest[256];
    assert_true(parse(&f, "--set one three other two", NULL, rest, &error));
    assert_true(f.set[0] && !f.set[1] && f.set[2]);
    assert_string_equal(rest, "other two ");
    assert_true(parse(&f, "--set two,three --flag one", NULL, rest, &error));
    assert_true(!f.set[0] && f.set[1] && f.set[2] && f.flag);
    assert_string_equal(rest, "one ");
}

static void check_mistake(const char *line, const char *expected) {
    Fields f;
    Error error;
    char rest[256];
    if (parse(&f, line, NULL, rest, &error)) fail_msg("%s is taken", line);
    assert_string_equal(error.text, expected);
}

static void test_mistakes(void **state) {
    (void)state;
    check_mistake("--whole -3", "--whole -3: give a whole number from -2 to 2147483647");
    check_mistake("--whole 1.5", "--whole 1.5: give a whole number from -2 to 2147483647");
    check_mistake("--whole 2147483648", "--whole 2147483648: give a whole number from -2 to 2147483647");
    check_mistake("--whole inf", "--whole inf: give a whole number from -2 to 2147483647");
    check_mistake("--real nan", "--real nan: give a number from 0 to 0.5");
    check_mistake("--real 0.1x", "--real 0.1x: give a number from 0 to 0.5");
    check_mistake("--choice on", "--choice on: give one, two or three");
    check_mistake("--choice one|two", "--choice one|two: give one, two or three");
    check_mistake("--set one,,two", "--set : give one, two or three");
    check_mistake("--set one,twos", "--set twos: give one, two or three");
}

static void test_help(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    options_print_help(table, OPTIONS, out);
    fclose(out);
    assert_non_null(strstr(text, "  --flag                      a flag\n"));
    assert_non_null(strstr(text, "  --choice one|two|three      a word\n"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
