/* The run directory: creating, locking, --fresh, saving states, reading them after each kind of crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "run/run_directory.h"
#include "tests/support/scratch.h"

static int create(void **state) {
    (void)state;
    scratch_create();
    return 0;
}

static int destroy(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

static RunDirectory open_run(const char *path, bool fresh) {
    RunDirectory run;
    Error error;
    if (!run_directory_open(&run, path, fresh, &error)) fail_msg("%s", error.text);
    return run;
}

static bool save(const RunDirectory *run, int update, Error *error) {
    float value = (float)update;
    char text[16];
    snprintf(text, sizeof text, "%d", update);
    SafetensorsTensor tensor = {"x", SAFETENSORS_F32, 1, {1}, &value};
    SafetensorsPair pair = {"update", text};
    return run_directory_save_state(run, &tensor, 1, &pair, 1, error);
}

static void check_state(const RunDirectory *run, const char *update) {
    Safetensors state;
    Error error;
    if (!run_directory_load_state(run, &state, &error)) fail_msg("%s", error.text);
    assert_string_equal(safetensors_metadata(&state, "update"), update);
    safetensors_free(&state);
}

static void damage(const char *path) {
    size_t size;
    char *bytes = scratch_read(path, &size);
    bytes[size - 1] ^= 1;
    scratch_write(path, bytes, size);
    free(bytes);
}

static void test_paths(void **state) {
    (void)state;
    char *a = run_path("runs/x", RUN_STATE_PREVIOUS), *c = run_path("/", RUN_CONFIG);
    assert_string_equal(a, "runs/x/state.prev.safetensors");
    assert_string_equal(c, "/config.ini");
    memory_free(a);
    memory_free(c);
}

static void test_open(void **state) {
    (void)state;
    const char *path = scratch_path("a/b/run");
    RunDirectory run = open_run(scratch_path("a/b/run//"), false);
    assert_string_equal(run.path, path);
    assert_null(run.aside);
    assert_false(run_directory_has_state(&run));
    run_directory_close(&run);
    run = open_run(path, false); /* again: the lock is free, and the directory is known as a run */
    run_directory_close(&run);
}

static void test_refused_places(void **state) {
    (void)state;
    RunDirectory run;
    Error error;
    const char *other = scratch_path("other"), *file = scratch_path("other/notes.txt");
    assert_true(file_make_directories(other, &error));
    scratch_write(file, "x", 1);
    for (int fresh = 0; fresh < 2; fresh++) {
        assert_false(run_directory_open(&run, other, fresh, &error));
        assert_non_null(strstr(error.text, "other: holds files, but no run; give [output] dir another name"));
    }
    assert_false(run_directory_open(&run, scratch_path("other/notes.txt/run"), false, &error));
    assert_non_null(strstr(error.text, "notes.txt: is a file where a directory is needed; choose another path"));
    assert_false(run_directory_open(&run, file, false, &error));
    assert_non_null(strstr(error.text, "notes.txt: is a file where a directory is needed"));
}

/* Another process holds the lock until it is killed. */
static void test_lock(void **state) {
    (void)state;
    const char *path = scratch_path("locked");
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        RunDirectory held;
        Error ignored;
        bool ok = run_directory_open(&held, path, false, &ignored);
        if (write(ready[1], &ok, 1) != 1) _exit(1);
        pause();
        _exit(0);
    }
    char ok = 0;
    assert_int_equal(read(ready[0], &ok, 1), 1);
    assert_int_equal(ok, 1);
    RunDirectory run;
    Error error;
    char expected[1024];
    snprintf(expected, sizeof expected,
             "%s: process %ld is training there; wait for it, stop it, or give another [output] dir", path,
             (long)child);
    for (int fresh = 0; fresh < 2; fresh++) { /* nor may it be moved away */
        assert_false(run_directory_open(&run, path, fresh, &error));
        assert_string_equal(error.text, expected);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    run = open_run(path, false);
    run_directory_close(&run);
    close(ready[0]);
    close(ready[1]);
}

static void test_fresh(void **state) {
    (void)state;
    Error error;
    const char *path = scratch_path("again");
    RunDirectory run = open_run(path, true); /* nothing to move yet */
    assert_null(run.aside);
    assert_true(save(&run, 1, &error));
    run_directory_close(&run);
    for (int n = 1; n < 3; n++) {
        char aside[600], old[700];
        snprintf(aside, sizeof aside, "%s.old.%d", path, n);
        run = open_run(path, true);
        assert_string_equal(run.aside, aside);
        assert_false(run_directory_has_state(&run));
        snprintf(old, sizeof old, "%s/state.safetensors", aside);
        assert_int_equal(access(old, F_OK), 0);
        assert_true(save(&run, 2, &error));
        run_directory_close(&run);
    }
}

static void test_states(void **state) {
    (void)state;
    Error error;
    Safetensors loaded;
    const char *path = scratch_path("states"), *newest = scratch_path("states/state.safetensors"),
               *previous = scratch_path("states/state.prev.safetensors");
    RunDirectory run = open_run(path, false);
    assert_false(run_directory_load_state(&run, &loaded, &error));
    assert_non_null(strstr(error.text, "states/state.safetensors: there is no such file"));
    assert_true(save(&run, 1, &error));
    assert_int_equal(access(previous, F_OK), -1);
    assert_true(save(&run, 2, &error) && save(&run, 3, &error));
    check_state(&run, "3");
    assert_int_equal(access(scratch_path("states/state.new.safetensors"), F_OK), -1);

    damage(newest);
    assert_false(run_directory_load_state(&run, &loaded, &error));
    assert_non_null(strstr(error.text, "states/state.safetensors: the content has checksum "));
    char offer[2048];
    snprintf(offer, sizeof offer, "\n%s: the state before it is good; to go on from there: mv %s %s", previous,
             previous, newest);
    assert_non_null(strstr(error.text, offer));
    assert_int_equal(rename(previous, newest), 0);
    check_state(&run, "2");

    assert_true(save(&run, 4, &error));
    damage(newest);
    damage(previous);
    assert_false(run_directory_load_state(&run, &loaded, &error));
    assert_non_null(strstr(error.text, "states/state.prev.safetensors: the content has checksum "));
    run_directory_close(&run);
}

/* What a kill leaves between the steps of saving: the newest complete state is found each time. */
static void test_cut_off(void **state) {
    (void)state;
    Error error;
    const char *path = scratch_path("cut"), *newest = scratch_path("cut/state.safetensors"),
               *previous = scratch_path("cut/state.prev.safetensors"), *new = scratch_path("cut/state.new.safetensors"),
               *half = scratch_path("cut/state.new.safetensors.tmp");
    RunDirectory run = open_run(path, false);
    assert_true(save(&run, 1, &error) && save(&run, 2, &error));
    run_directory_close(&run);
    scratch_write(half, "half", 4); /* while the temporary was written */
    run = open_run(path, false);
    assert_int_equal(access(half, F_OK), -1);
    check_state(&run, "2");
    run_directory_close(&run);
    assert_int_equal(rename(newest, new), 0); /* after the first rename, and before the second */
    assert_int_equal(rename(previous, newest), 0);
    run = open_run(path, false);
    check_state(&run, "2");
    assert_int_equal(access(previous, F_OK), 0);
    run_directory_close(&run);
    assert_int_equal(rename(newest, new), 0); /* after the second, before the third */
    run = open_run(path, false);
    check_state(&run, "2");
    run_directory_close(&run);
    assert_int_equal(rename(newest, new), 0); /* without a new one, the previous counts */
    assert_int_equal(unlink(new), 0);
    run = open_run(path, false);
    assert_true(run_directory_has_state(&run));
    check_state(&run, "1");
    run_directory_close(&run);
}

static void test_full_disk(void **state) {
    (void)state;
    Error error;
    RunDirectory run = open_run(scratch_path("full"), false);
    assert_true(save(&run, 1, &error) && save(&run, 2, &error));
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, before.rlim_max});
    bool ok = save(&run, 3, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(ok);
    assert_non_null(strstr(error.text, "state.new.safetensors: could not be written: File too large"));
    check_state(&run, "2");
    assert_int_equal(unlink(scratch_path("full/state.safetensors")), 0);
    check_state(&run, "1");
    run_directory_close(&run);
}

static void test_check(void **state) {
    (void)state;
    Error error;
    const char *path = scratch_path("model");
    static const struct {
        const char *file, *missing;
    } steps[] = {{NULL, "model: No such file or directory; name the directory of a run ([output] dir)"},
                 {"model/x", "model: has no config.ini; is it the directory of a run that has saved a model?"},
                 {"model/config.ini", "model: has no model.safetensors; is it the directory"},
                 {"model/model.safetensors", "model: has no tokenizer.json; copy it from where"},
                 {"model/tokenizer.source.json", "model: has no tokenizer.json"},
                 {"model/tokenizer.target.json", NULL}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (steps[i].file != NULL) {
            assert_true(file_make_directories(path, &error));
            scratch_write(scratch_path(steps[i].file), "x", 1);
        }
        assert_int_equal(run_directory_check(path, &error), steps[i].missing == NULL);
        if (steps[i].missing != NULL) assert_non_null(strstr(error.text, steps[i].missing));
    }
    assert_false(run_directory_check(scratch_path("model/x"), &error));
    assert_non_null(strstr(error.text, "model/x: is a file; name the directory of a run"));
}

/* A device that is replaced by a file is gone for everybody. */
static void test_only_files_are_replaced(void **state) {
    (void)state;
    Error error = {""};
    struct stat info;
    const char *pipe = scratch_path("pipe");
    assert_int_equal(mkfifo(pipe, 0666), 0);
    assert_false(file_write(pipe, "x", 1, &error));
    assert_non_null(strstr(error.text, "pipe: is no regular file"));
    assert_true(stat(pipe, &info) == 0 && S_ISFIFO(info.st_mode));
    assert_false(file_exists(scratch_path("pipe.tmp")));
}

static void test_append_line(void **state) {
    (void)state;
    Error error;
    size_t size;
    const char *path = scratch_path("log");
    assert_true(file_append_line(path, "one", &error) && file_append_line(path, "", &error));
    scratch_write(path, "one\n\nhal", 8);
    assert_true(file_append_line(path, "two", &error));
    char *text = scratch_read(path, &size);
    assert_string_equal(text, "one\n\nhal\ntwo\n");
    free(text);
    assert_false(file_append_line(scratch_path("log/x"), "two", &error));
    assert_non_null(strstr(error.text, "log/x: could not be opened for writing: Not a directory; check the path"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_refused_places),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_append_line),
        cmocka_unit_test(test_only_files_are_replaced),
    };
    return cmocka_run_group_tests(tests, create, destroy) != 0;
}
