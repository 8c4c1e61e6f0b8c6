/* metrics.jsonl read back, and the data that goes into report.html: what is superseded, damaged, thinned out, escaped. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/json_text.h"
#include "tests/support/scratch.h"
#include "training/metrics.h"
#include "training/metrics_read.h"
#include "training/report.h"
#include "training/valid_details.h"

static void write_metrics(const char *text, size_t size) { scratch_write(scratch_path("m"), text, size); }

static void open_metrics(MetricsFile *m) {
    Error error;
    if (!metrics_file_open(m, scratch_path("m"), &error)) fail_msg("%s", error.text);
}

/* The updates of a kind's lines that are objects, as "4 8 12". */
static void check_updates(MetricsFile *m, MetricsKind kind, const char *expected) {
    char found[256] = "";
    for (size_t i = 0; i < m->list[kind].count; i++) {
        json_t *line = metrics_read(m, &m->list[kind].line[i]);
        if (line == NULL) continue;
        assert_int_equal(json_integer_value(json_object_get(line, "update")), m->list[kind].line[i].update);
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, used > 0 ? " %d" : "%d", (int)m->list[kind].line[i].update);
        json_decref(line);
    }
    assert_string_equal(found, expected);
}

static void check_text(const char *text, const char *train, const char *valid) {
    MetricsFile m;
    write_metrics(text, strlen(text));
    open_metrics(&m);
    check_updates(&m, METRICS_TRAIN, train);
    check_updates(&m, METRICS_VALID, valid);
    metrics_file_close(&m);
}

#define TRAIN(u) "{\"kind\":\"train\",\"update\":" u ",\"loss\":1.5}\n"
#define VALID(u) "{\"kind\":\"valid\",\"update\":" u ",\"loss\":null}\n"
#define RESUME(u) "{\"kind\":\"resume\",\"update\":" u "}\n"

static void test_superseded(void **state) {
    (void)state;
    scratch_create();
    check_text("", "", "");
    check_text(TRAIN("4") VALID("5") TRAIN("8"), "4 8", "5");
    check_text(TRAIN("4") VALID("5") TRAIN("8") RESUME("6") TRAIN("8") VALID("10"), "4 8", "5 10");
    check_text(TRAIN("4") VALID("5") TRAIN("8") RESUME("8") TRAIN("12"), "4 8 12", "5");
    check_text(TRAIN("4") VALID("5") TRAIN("8") VALID("10") RESUME("4"), "4", "");
    check_text(TRAIN("4") TRAIN("8") RESUME("0") TRAIN("4"), "4", "");
    check_text(TRAIN("4") VALID("5") TRAIN("8") VALID("10") TRAIN("4"), "4", "");       /* anew, without a state */
    check_text(TRAIN("4") VALID("4") VALID("4") TRAIN("8") VALID("12"), "4 8", "4 12"); /* the later of two */
    scratch_remove();
}

static void test_damaged_lines(void **state) {
    (void)state;
    scratch_create();
    check_text(TRAIN("4") "{\"kind\":\"train\",\"update\":8,\"lo", "4", ""); /* cut off */
    check_text(TRAIN("4") "{\"kind\":\"train\",\"update\":8\n" TRAIN("12"), "4 12", "");
    check_text(TRAIN("4") TRAIN("8") "{\"kind\":\"resume\",\"update\":6", "4 8", ""); /* 6 or 60? */
    check_text("\n\n{}\nnull\n[1]\n" TRAIN("4") "{\"kind\":\"train\",\"update\":8}}\n", "4", "");
    check_text(TRAIN("-4") TRAIN("99999999999999999999") TRAIN("x") TRAIN("\"7\"") TRAIN("1.5") TRAIN("3"), "3", "");
    check_text("{\"kind\":\"other\",\"update\":1}\n{\"kind\":\"averylongkindofaline\",\"update\":1}\n", "", "");
    check_text("{ \"kind\": \"train\", \"update\": 4 }\n\r\n" TRAIN("5"), "4 5", "");
    check_text(TRAIN("4") "{\"kind\":\"train\",\"update\":8,\"loss\":1e999}\n" TRAIN("9") "\xFF\xFE\n", "4 9", "");
    scratch_remove();
}

/* Any bytes changed to any others: nothing crashes, and what is read is an object. */
static void test_odd_bytes(void **state) {
    (void)state;
    const char text[] = TRAIN("4") VALID("5") TRAIN("8") RESUME("6") TRAIN("8");
    scratch_create();
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        const char odd[] = {'\0', '\n', '"', '{', '\\', '9', '\xFF', '\xC3'};
        char changed[sizeof text];
        memcpy(changed, text, sizeof text);
        changed[i] = odd[i % sizeof odd];
        write_metrics(changed, sizeof text - 1);
        MetricsFile m;
        open_metrics(&m);
        for (int kind = 0; kind < METRICS_KINDS; kind++)
            for (size_t j = 0; j < m.list[kind].count; j++) json_decref(metrics_read(&m, &m.list[kind].line[j]));
        metrics_file_close(&m);
    }
    Error error;
    MetricsFile m;
    assert_false(metrics_file_open(&m, scratch_path("none"), &error));
    assert_non_null(strstr(error.text, "none: could not be opened"));
    scratch_remove();
}

/* The lists of a report as JSON; *size is their length as text. */
static json_t *read_lists(size_t *size) {
    Error error;
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    fputs("{\"run\":0", out);
    if (!report_lists(out, scratch_path("m"), &error)) fail_msg("%s", error.text);
    fputs("}", out);
    fclose(out);
    assert_null(strchr(text, '<'));
    json_t *lists = json_loadb(text, *size, JSON_ALLOW_NUL, NULL);
    assert_non_null(lists);
    free(text);
    return lists;
}

static int64_t update_of(const json_t *list, size_t i) {
    return json_integer_value(json_object_get(json_array_get(list, i), "update"));
}

/* 100,000 lines become 1,000, the last of each interval; the best validation, its details and the last ones stay. */
static void test_thinning(void **state) {
    (void)state;
    size_t size;
    char *text = NULL;
    scratch_create();
    FILE *out = open_memstream(&text, &size);
    for (int u = 1; u <= 100000; u++) {
        fprintf(out, "{\"kind\":\"train\",\"update\":%d,\"loss\":1.23456789,\"nll\":1.23456789,\"ppl\":3.14159265}\n",
                u);
        if (u % 10 != 0) continue;
        fprintf(out, "{\"kind\":\"valid\",\"update\":%d,\"best\":%s,\"buckets\":[1],\"samples\":[{\"line\":1}]}\n", u,
                u == 31410 || u == 270 ? "true" : "false");
        fprintf(out, "{\"kind\":\"norms\",\"update\":%d,\"groups\":[]}\n", u);
    }
    fclose(out);
    write_metrics(text, size);
    free(text);
    json_t *lists = read_lists(&size), *train = json_object_get(lists, "train"),
           *valid = json_object_get(lists, "valid");
    assert_true(size < 500000);
    assert_int_equal(json_array_size(train), REPORT_MOST);
    assert_int_equal(update_of(train, 0), 100);
    assert_int_equal(update_of(train, REPORT_MOST - 1), 100000);
    assert_int_equal(json_array_size(json_object_get(lists, "norms")), REPORT_MOST_NORMS);
    int best = 0, details = 0;
    for (size_t i = 0; i < json_array_size(valid); i++) {
        const json_t *line = json_array_get(valid, i);
        bool detailed = json_object_get(line, "samples") != NULL;
        assert_true(detailed == (json_object_get(line, "buckets") != NULL));
        details += detailed;
        if (update_of(valid, i) == 31410) best += detailed;
    }
    assert_int_equal(best, 1);
    assert_true(details == REPORT_DETAILS || details == REPORT_DETAILS + 1);
    assert_non_null(json_object_get(json_array_get(valid, json_array_size(valid) - 1), "samples"));
    json_decref(lists);
    scratch_remove();
}

/* Sentences of any bytes go through metrics.jsonl and the report, and come back as they are. */
static void test_sentences(void **state) {
    (void)state;
    static const char *const sentences[] = {"</script><script>alert(1)</script>",
                                            "<!-- \"quotes\" \\ and 'others' -->",
                                            "a\xE2\x80\xA8 b \xF0\x9F\x98\x80",
                                            "tab\there",
                                            "\"best\":true",
                                            ""};
    enum { COUNT = sizeof sentences / sizeof sentences[0] };
    Error error;
    char bad[] = "bad \xFF\xC3 bytes";
    Line line[COUNT];
    Translation translation[COUNT];
    for (int i = 0; i < COUNT; i++) {
        line[i] = (Line){sentences[i], strlen(sentences[i])};
        translation[i] = (Translation){.text = bad, .length = strlen(bad)};
    }
    ParallelText text = {.source = {.line = line, .count = COUNT}, .target = {.line = line, .count = COUNT}};
    char *samples = valid_samples(&text, translation, 100);
    scratch_create();
    ValidMetrics m = {.update = 3, .epoch = 1, .loss = (double)NAN, .nll = 1, .samples = samples, .buckets = "[]"};
    Metrics metrics;
    metrics_open(&metrics, scratch_path("m"));
    assert_true(metrics_append_valid(&metrics, &m, &error));
    metrics_close(&metrics);
    memory_free(samples);
    size_t size;
    json_t *lists = read_lists(&size), *valid = json_array_get(json_object_get(lists, "valid"), 0);
    assert_true(json_is_null(json_object_get(valid, "loss")));
    assert_true(json_is_false(json_object_get(valid, "best")));
    const json_t *list = json_object_get(valid, "samples");
    assert_int_equal(json_array_size(list), COUNT);
    for (int i = 0; i < COUNT; i++) {
        const json_t *sample = json_array_get(list, (size_t)i);
        assert_int_equal(json_integer_value(json_object_get(sample, "line")), i + 1);
        assert_string_equal(json_string_value(json_object_get(sample, "source")), sentences[i]);
        assert_string_equal(json_string_value(json_object_get(sample, "reference")), sentences[i]);
        assert_string_equal(json_string_value(json_object_get(sample, "hypothesis")),
                            "bad \xEF\xBF\xBD\xEF\xBF\xBD bytes");
    }
    json_decref(lists);
    scratch_remove();
}

static void test_sample_lines(void **state) {
    (void)state;
    assert_int_equal(valid_sample_line(0, 8, 500), 0);
    assert_int_equal(valid_sample_line(1, 8, 500), 62);
    assert_int_equal(valid_sample_line(7, 8, 500), 437);
    for (int k = 0; k < 3; k++) assert_int_equal(valid_sample_line(k, 8, 3), k);
    assert_int_equal(valid_sample_line(99, 100, 2000000000), 1980000000);
}

/* Pairs with sources of 3, 10, 11 and 90 tokens and targets of 1 to 4; nll of 1 to 4 a pair. */
static void test_buckets(void **state) {
    (void)state;
    int64_t source[] = {0, 3, 13, 24, 114}, target[] = {0, 1, 3, 6, 10};
    Corpus corpus = {.pairs = 4, .source = {.offset = source}, .target = {.offset = target}};
    char *text = valid_buckets(&corpus, (const double[]){1, 2, 3, 4});
    assert_string_equal(text, "[{\"from\":1,\"to\":10,\"pairs\":2,\"tokens\":5,\"nll\":0.6},"
                              "{\"from\":11,\"to\":20,\"pairs\":1,\"tokens\":4,\"nll\":0.75},"
                              "{\"from\":81,\"to\":null,\"pairs\":1,\"tokens\":5,\"nll\":0.8}]");
    memory_free(text);
    text = valid_buckets(&corpus, (const double[]){1, (double)NAN, 3, 4});
    assert_non_null(strstr(text, "\"pairs\":2,\"tokens\":5,\"nll\":null}"));
    memory_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_superseded), cmocka_unit_test(test_damaged_lines), cmocka_unit_test(test_odd_bytes),
        cmocka_unit_test(test_thinning),   cmocka_unit_test(test_sentences),     cmocka_unit_test(test_sample_lines),
        cmocka_unit_test(test_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
