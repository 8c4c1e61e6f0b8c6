/* Texts of two sides: lists of files, several files a side, TSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/path_list.h"
#include "data/parallel_text.h"
#include "data/places.h"
#include "tests/support/scratch.h"

static void write_text(const char *name, const char *text) { scratch_write(scratch_path(name), text, strlen(text)); }

static void test_path_lists(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int count;
        const char *path[3];
    } cases[] = {
        {"", 0, {NULL}},
        {"a", 1, {"a"}},
        {"a,b", 2, {"a", "b"}},
        {"my text.en , \tother  text.en,c", 3, {"my text.en", "other  text.en", "c"}},
        {" a # b ", 1, {" a # b "}},
        {"a\\, b, c", 2, {"a, b", "c"}},
        {"a\\\\,c\\d", 2, {"a\\", "c\\d"}},
        {"a\\", 1, {"a\\"}},
        {",", -1, {NULL}},
        {"a,", -1, {NULL}},
        {"a, ", -1, {NULL}},
        {" ,a", -1, {NULL}},
        {"a,,b", -1, {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PathList list;
        bool good = path_list_split(&list, cases[i].text);
        assert_int_equal(good, cases[i].count >= 0);
        if (!good) continue;
        assert_int_equal(list.count, cases[i].count);
        for (int p = 0; p < list.count; p++) assert_string_equal(list.path[p], cases[i].path[p]);
        path_list_free(&list);
    }
}

static void assert_line(Line line, const char *text) {
    assert_int_equal(line.length, strlen(text));
    assert_memory_equal(line.text, text, line.length);
}

/* Paths of scratch files with commas between them. */
static const char *paths(char out[2000], const char *a, const char *b) {
    snprintf(out, 2000, "%s, %s", scratch_path(a), scratch_path(b));
    return out;
}

static void test_several_files(void **state) {
    (void)state;
    char sources[2000], targets[2000];
    scratch_create();
    write_text("a.en", "one\ntwo");
    write_text("my b.en", "\xEF\xBB\xBFthree\r\n\n");
    write_text("a.fr", "un\ndeux\n");
    write_text("b.fr", "trois\n");
    ParallelText text;
    Error error = {""};
    assert_false(parallel_text_read(&text, paths(sources, "a.en", "my b.en"), paths(targets, "a.fr", "b.fr"), &error));
    assert_non_null(strstr(error.text, "my b.en has 2 lines but "));
    assert_non_null(strstr(error.text, "b.fr has 1;"));
    /* As many lines in all are not enough. */
    write_text("c.fr", "un\n");
    write_text("d.fr", "deux\ntrois\nquatre\n");
    assert_false(parallel_text_read(&text, sources, paths(targets, "c.fr", "d.fr"), &error));
    assert_non_null(strstr(error.text, "a.en has 2 lines but "));
    assert_false(parallel_text_read(&text, sources, scratch_path("a.fr"), &error));
    assert_non_null(strstr(error.text, "2 files on the source side"));
    write_text("b.fr", "trois\nquatre");
    assert_true(parallel_text_read(&text, sources, paths(targets, "a.fr", "b.fr"), &error));
    assert_int_equal(text.source.count, 4);
    assert_int_equal(text.target.count, 4);
    assert_line(text.source.line[1], "two");
    assert_line(text.source.line[2], "three");
    assert_line(text.source.line[3], "");
    assert_line(text.target.line[2], "trois");
    assert_line(text.target.line[3], "quatre");
    assert_int_equal(text.files, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(text.file[i].lines.had_bom && text.file[i].lines.had_cr, i == 2);
    assert_non_null(strstr(text.file[2].path, "my b.en"));
    parallel_text_free(&text);
    scratch_remove();
}

static void test_tsv(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {{"a\tb\nc\n", "t.tsv:2: has no tab"},
               {"a\tb\n\n", "t.tsv:2: has no tab"},
               {"a\tb\nc\td\t\n", "t.tsv:2: has more than one tab"},
               {"\t\t", "t.tsv:1: has more than one tab"},
               {"", "t.tsv: is empty"}};
    char list[2000];
    ParallelText text;
    Error error = {""};
    scratch_create();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text("t.tsv", bad[i].text);
        assert_false(parallel_text_read_tsv(&text, scratch_path("t.tsv"), &error));
        if (strstr(error.text, bad[i].message) == NULL) fail_msg("%s", error.text);
    }
    write_text("t.tsv", "\xEF\xBB\xBF"
                        "a b\tc\xE2\x80\xA8\r\n\td\r");
    gzFile packed = gzopen(scratch_path("u.tsv"), "wb");
    assert_int_equal(gzputs(packed, "e\t"), 2);
    assert_int_equal(gzclose(packed), Z_OK);
    assert_true(parallel_text_read_tsv(&text, paths(list, "t.tsv", "u.tsv"), &error));
    assert_int_equal(text.source.count, 3);
    assert_int_equal(text.target.count, 3);
    assert_line(text.source.line[0], "a b");
    assert_line(text.target.line[0], "c\xE2\x80\xA8");
    assert_line(text.source.line[1], "");
    assert_line(text.target.line[1], "d");
    assert_line(text.source.line[2], "e");
    assert_line(text.target.line[2], "");
    assert_int_equal(text.files, 2);
    assert_true(text.file[0].lines.had_bom && text.file[0].lines.had_cr);
    parallel_text_free(&text);
    scratch_remove();
}

static void check_places(const ParallelText *text, int sides, const char *const *file, const int *number, int lines) {
    CorpusPlaces places;
    corpus_places_init(&places, text, sides);
    for (int line = 0; line < lines; line++) {
        int64_t found;
        assert_string_equal(corpus_place(&found, &places, line), scratch_path(file[line]));
        assert_int_equal(found, number[line]);
    }
    corpus_places_free(&places);
}

/* A line of the corpus has its place in a file of the source side, or in a TSV file. */
static void test_places(void **state) {
    (void)state;
    char source[2000], target[2000];
    ParallelText text;
    Error error;
    scratch_create();
    write_text("a", "1\n2\n3\n");
    write_text("b", "4\n5\n");
    write_text("c", "i\nii\niii\n");
    write_text("d", "iv\nv\n");
    assert_true(parallel_text_read(&text, paths(source, "a", "b"), paths(target, "c", "d"), &error));
    check_places(&text, 2, (const char *[]){"a", "a", "a", "b", "b"}, (int[]){1, 2, 3, 1, 2}, 5);
    parallel_text_free(&text);
    write_text("t.tsv", "1\ti\n");
    write_text("u.tsv", "2\tii\n3\tiii\n");
    assert_true(parallel_text_read_tsv(&text, paths(source, "t.tsv", "u.tsv"), &error));
    check_places(&text, 1, (const char *[]){"t.tsv", "u.tsv", "u.tsv"}, (int[]){1, 1, 2}, 3);
    parallel_text_free(&text);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_lists),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
