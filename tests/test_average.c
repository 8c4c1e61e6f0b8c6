/* Snapshots and their average: which are kept, which files go, and that the mean is the mean of the files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "tests/support/scratch.h"
#include "training/trainer.h"

static SnapshotList list_of(const char *text) {
    SnapshotList list;
    if (!snapshots_parse(&list, text)) fail_msg("\"%s\" is no list", text);
    return list;
}

static void check_list(const SnapshotList *list, const char *expected) {
    char *text = snapshots_text(list);
    assert_string_equal(text, expected);
    memory_free(text);
}

static void test_lists(void **state) {
    (void)state;
    const char *four = "5:0x1p+1 10:0x1p+0 20:0x1p+1 25:0x1.8p+0";
    SnapshotList list = list_of(four);
    check_list(&list, four);
    snapshots_keep_last(&list, 3);
    check_list(&list, "10:0x1p+0 20:0x1p+1 25:0x1.8p+0");
    list = list_of(four);
    snapshots_keep_best(&list, 3, true); /* of two that are alike the younger goes */
    check_list(&list, "5:0x1p+1 10:0x1p+0 25:0x1.8p+0");
    list = list_of(four);
    snapshots_keep_best(&list, 1, false);
    check_list(&list, "5:0x1p+1");
    snapshots_add(&list, (Snapshot){7, (double)NAN});
    snapshots_add(&list, (Snapshot){7, 0.5});
    check_list(&list, "5:0x1p+1 7:0x1p-1");
    assert_true(snapshots_contain(&list, 7) && !snapshots_contain(&list, 6));
    list = list_of("");
    check_list(&list, "");
    list = list_of("3:nan");
    assert_true(list.count == 1 && isnan(list.entry[0].value));
}

static void test_malformed_lists(void **state) {
    (void)state;
    static const char *const malformed[] = {"5", "5:", ":1", "5:x", "5:1 5:1", "5:1 4:1", "x", "5:1,6:1"};
    SnapshotList list;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        if (snapshots_parse(&list, malformed[i])) fail_msg("\"%s\" is taken for a list", malformed[i]);
    char many[1024] = "";
    for (int i = 1; i <= CONFIG_MOST_SNAPSHOTS + 1; i++)
        snprintf(many + strlen(many), 16, "%s%d:1", i > 1 ? " " : "", i);
    assert_false(snapshots_parse(&list, many));
    *strrchr(many, ' ') = '\0';
    assert_true(snapshots_parse(&list, many));
}

static void touch(int update) {
    char *path = snapshot_path(scratch_path("p"), update);
    scratch_write(path, "x", 1);
    memory_free(path);
}

static bool there(int update) {
    char *path = snapshot_path(scratch_path("p"), update);
    bool found = file_exists(path);
    memory_free(path);
    return found;
}

/* The state before (update 30) and the one now need theirs; a younger file may belong to a state that is not known. */
static void test_prune(void **state) {
    (void)state;
    Error error;
    scratch_create();
    assert_true(file_make_directories(scratch_path("p/epochs"), &error));
    for (int update = 10; update <= 60; update += 10) touch(update);
    scratch_write(scratch_path("p/epochs/10.txt"), "x", 1);
    SnapshotList now = list_of("30:1 60:1"), before = list_of("20:1 30:1");
    snapshots_prune(scratch_path("p"), &now, &before, 30);
    for (int update = 10; update <= 60; update += 10) assert_int_equal(there(update), update != 10);
    assert_true(file_exists(scratch_path("p/epochs/10.txt")));
    snapshots_prune(scratch_path("p"), &now, &now, 60);
    for (int update = 10; update <= 60; update += 10) assert_int_equal(there(update), update == 30 || update == 60);
    snapshots_prune(scratch_path("nowhere"), &now, &now, 60);
    scratch_remove();
}

static void write_corpus(void) {
    char source[4096] = "", target[4096] = "";
    for (int i = 0; i < 60; i++) {
        snprintf(source + strlen(source), 64, "%d and %d\n", i, i * 7 % 13);
        snprintf(target + strlen(target), 64, "%d, %d\n", i, i * 7 % 13);
    }
    scratch_write(scratch_path("s"), source, strlen(source));
    scratch_write(scratch_path("t"), target, strlen(target));
}

/* Trains 20 updates to their end. `more` starts in [train]. */
static void train(const char *more, bool validate) {
    char text[2048], valid[1024] = "";
    Config config;
    Error error = {""};
    Trainer t;
    scratch_create();
    write_corpus();
    if (validate)
        snprintf(valid, sizeof valid, "valid_source = %s\nvalid_target = %s\n", scratch_path("s"), scratch_path("t"));
    int n = snprintf(text, sizeof text,
                     "[data]\ntrain_source = %s\ntrain_target = %s\n%s[tokenizer]\ntype = byte\n[output]\ndir = %s\n"
                     "[model]\nd_model = 8\nffn_dim = 8\nheads = 2\nencoder_layers = 1\ndecoder_layers = 1\n"
                     "[decode]\nmax_length_factor = 1\nmax_length_extra = 2\n"
                     "[train]\nupdates = 20\nbatch_tokens = 100\nwarmup = 1\nthreads = 2\n%s",
                     scratch_path("s"), scratch_path("t"), valid, scratch_path("run"), more);
    assert_true(n < (int)sizeof text);
    if (!config_parse(&config, "c.ini", text, (size_t)n, NULL, 0, &error)) fail_msg("%s", error.text);
    if (!trainer_open(&t, &config, false, &error)) fail_msg("%s", error.text);
    if (trainer_run(&t, &error) != TRAIN_UPDATES) fail_msg("%s", error.text);
    trainer_close(&t);
}

static Safetensors read_file(const char *name) {
    Safetensors file;
    Error error;
    if (!safetensors_read(&file, scratch_path(name), &error)) fail_msg("%s", error.text);
    return file;
}

/* Is model.safetensors, number by number, the mean of these three snapshots? */
static bool model_is_mean(const char *const *name) {
    Safetensors model = read_file("run/model.safetensors"), part[3];
    bool equal = true;
    for (int i = 0; i < 3; i++) part[i] = read_file(name[i]);
    for (int i = 0; i < model.tensors; i++) {
        const float *x = model.tensor[i].data;
        for (int64_t j = 0; j < safetensors_count(&model.tensor[i]); j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += (double)((const float *)part[k].tensor[i].data)[j];
            equal = equal && x[j] == (float)(sum / 3);
        }
    }
    for (int i = 0; i < 3; i++) safetensors_free(&part[i]);
    safetensors_free(&model);
    return equal;
}

static const char *const last_three[] = {"run/epochs/000016.safetensors", "run/epochs/000018.safetensors",
                                         "run/epochs/000020.safetensors"};

static void test_mean(void **state) {
    (void)state;
    train("[average]\nlast = 3\nevery = 2\n", false);
    assert_true(model_is_mean(last_three));
    scratch_remove();
}

/* Does metrics.jsonl call the average the best? */
static bool average_is_best(void) {
    size_t size;
    char *text = scratch_read(scratch_path("run/metrics.jsonl"), &size);
    char *line = strstr(text, "{\"kind\":\"average\",\"update\":20,");
    assert_non_null(line);
    assert_non_null(strstr(line, "\"snapshots\":[16,18,20]"));
    bool best = strstr(line, "\"best\":true") != NULL;
    free(text);
    return best;
}

/* A rate that swings about a minimum, whose middle is better than its turns; and one so low that the last is the best. */
static void test_validation_decides(void **state) {
    (void)state;
    train("lr = 0.3\nschedule = constant\n[average]\nlast = 3\nevery = 2\n", true);
    assert_true(average_is_best());
    assert_true(model_is_mean(last_three));
    scratch_remove();
    train("lr = 0.001\nschedule = constant\n[average]\nlast = 3\nevery = 2\n", true);
    assert_false(average_is_best());
    assert_false(model_is_mean(last_three));
    scratch_remove();
}

static int by_loss(const void *a, const void *b) {
    const Snapshot *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* The three with the lowest loss by metrics.jsonl, in the order of their updates. */
static void test_best_three(void **state) {
    (void)state;
    Snapshot valid[16];
    int count = 0;
    size_t size;
    train("lr = 0.3\nschedule = constant\n[average]\nbest = 3\n[valid]\nevery = 2\n", true);
    char *text = scratch_read(scratch_path("run/metrics.jsonl"), &size);
    for (char *line = text; (line = strstr(line, "{\"kind\":\"valid\"")) != NULL; line++, count++) {
        assert_true(count < 16);
        valid[count] = (Snapshot){atoi(strstr(line, "\"update\":") + 9), strtod(strstr(line, "\"nll\":") + 6, NULL)};
    }
    assert_int_equal(count, 10);
    qsort(valid, (size_t)count, sizeof *valid, by_loss);
    char name[10][64];
    const char *best[3];
    int found = 0;
    for (int update = 2; update <= 20; update += 2) {
        bool wanted = false;
        for (int i = 0; i < 3; i++) wanted = wanted || valid[i].update == update;
        snprintf(name[update / 2 - 1], 64, "run/epochs/%06d.safetensors", update);
        assert_true(!wanted || file_exists(scratch_path(name[update / 2 - 1])));
        if (wanted) best[found++] = name[update / 2 - 1];
    }
    assert_int_equal(found, 3);
    assert_true(model_is_mean(best));
    free(text);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists), cmocka_unit_test(test_malformed_lists),    cmocka_unit_test(test_prune),
        cmocka_unit_test(test_mean),  cmocka_unit_test(test_validation_decides), cmocka_unit_test(test_best_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
