/* Training as a whole: the schedule's values, the limits that end a run, and updates that are not finite. */
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
#include "tests/support/probe.h"
#include "tests/support/scratch.h"
#include "training/schedule.h"
#include "training/trainer.h"

static void assert_rate(double expected, ConfigSchedule schedule, int64_t u) {
    double rate = schedule_lr(schedule, 0.5, 10, 40, u);
    if (fabs(rate - expected) > 1e-15) fail_msg("update %d: rate %.17g, not %.17g", (int)u, rate, expected);
}

static void test_schedules(void **state) {
    (void)state;
    const ConfigSchedule all[] = {CONFIG_SCHEDULE_INVERSE_SQRT, CONFIG_SCHEDULE_LINEAR, CONFIG_SCHEDULE_CONSTANT};
    for (int i = 0; i < 3; i++) {
        assert_rate(0.05, all[i], 1);
        assert_rate(0.45, all[i], 9);
        assert_rate(0.5, all[i], 10);
    }
    assert_rate(0.25, CONFIG_SCHEDULE_INVERSE_SQRT, 40);
    assert_rate(0.5, CONFIG_SCHEDULE_CONSTANT, 1000);
    assert_rate(0.5 * 30 / 31, CONFIG_SCHEDULE_LINEAR, 11);
    assert_rate(0.5 / 31, CONFIG_SCHEDULE_LINEAR, 40);
    assert_rate(0, CONFIG_SCHEDULE_LINEAR, 41);
    assert_rate(0, CONFIG_SCHEDULE_LINEAR, 99);
    assert_true(schedule_lr(CONFIG_SCHEDULE_CONSTANT, 0.5, 0, 0, 1) == 0.5);
}

/* 60 pairs of numbers written in two ways: a corpus that trains in milliseconds. */
static void write_corpus(void) {
    char source[4096] = "", target[4096] = "";
    for (int i = 0; i < 60; i++) {
        snprintf(source + strlen(source), 64, "%d and %d\n", i, i * 7 % 13);
        snprintf(target + strlen(target), 64, "%d, %d\n", i, i * 7 % 13);
    }
    scratch_write(scratch_path("s"), source, strlen(source));
    scratch_write(scratch_path("t"), target, strlen(target));
}

static void open_trainer(Trainer *t, const char *more) {
    char text[2048];
    Config config;
    Error error = {""};
    int n =
        snprintf(text, sizeof text,
                 "[data]\ntrain_source = %s\ntrain_target = %s\nvalid_source = %s\nvalid_target = %s\n"
                 "[tokenizer]\nvocab_size = 280\n[output]\ndir = %s\nlog_every = 1000000\n"
                 "save_every = 1000000 epochs\n[model]\nd_model = 8\nffn_dim = 8\nheads = 2\nencoder_layers = 1\n"
                 "decoder_layers = 1\n[decode]\nmax_length_factor = 1\nmax_length_extra = 2\n"
                 "[train]\nbatch_tokens = 100\nwarmup = 1\nthreads = 2\n%s",
                 scratch_path("s"), scratch_path("t"), scratch_path("s"), scratch_path("t"), scratch_path("run"), more);
    assert_true(n < (int)sizeof text);
    if (!config_parse(&config, "c.ini", text, (size_t)n, NULL, 0, &error)) fail_msg("%s", error.text);
    if (!trainer_open(t, &config, false, &error)) fail_msg("%s", error.text);
}

static void check_end(const char *settings, TrainEnd end, int epochs, int64_t updates) {
    Error error = {""};
    scratch_create();
    write_corpus();
    Trainer t;
    open_trainer(&t, settings);
    assert_int_equal(trainer_run(&t, &error), end);
    if (epochs > 0) assert_int_equal(t.batcher.epoch, epochs);
    if (updates > 0) assert_int_equal(t.state.update, updates);
    trainer_close(&t);
    open_trainer(&t, settings); /* a finished run has nothing left to do */
    int64_t update = t.state.update;
    assert_int_equal(trainer_run(&t, &error), end);
    assert_int_equal(t.state.update, update);
    trainer_close(&t);
    scratch_remove();
}

static void test_limits(void **state) {
    (void)state;
    check_end("epochs = 3\n", TRAIN_EPOCHS, 3, 0);
    check_end("updates = 5\nepochs = 100\n", TRAIN_UPDATES, 0, 5);
    check_end("minutes = 0.00001\nepochs = 100000\n", TRAIN_MINUTES, 0, 0);
    check_end("epochs = 100000\nlr = 1e-12\n[valid]\nevery = 2\nmetric = exact_match\npatience = 3\n", TRAIN_PATIENCE,
              0, 8);
}

/* With bleu or chrf the largest value of all scheduled validations is kept as the best. */
static void test_best_by_score(void **state) {
    (void)state;
    static const char *const metrics[] = {"bleu", "chrf"};
    for (int i = 0; i < 2; i++) {
        char settings[128], key[16];
        Error error = {""};
        scratch_create();
        write_corpus();
        Trainer t;
        snprintf(settings, sizeof settings, "updates = 60\nlr = 0.02\n[valid]\nevery = 4\nmetric = %s\n", metrics[i]);
        open_trainer(&t, settings);
        assert_int_equal(trainer_run(&t, &error), TRAIN_UPDATES);
        size_t size;
        char *text = scratch_read(scratch_path("run/metrics.jsonl"), &size);
        snprintf(key, sizeof key, "\"%s\":", metrics[i]);
        double best = -1, first = -1;
        for (char *at = strstr(text, key); at != NULL; at = strstr(at, key)) {
            at += strlen(key);
            double value = strtod(at, NULL);
            first = first < 0 ? value : first;
            best = value > best ? value : best;
        }
        assert_true(best > first && first >= 0);
        assert_near(t.state.best, best, 1e-8); /* nine digits are written */
        free(text);
        trainer_close(&t);
        scratch_remove();
    }
}

/* A parameter that is no number makes every update not finite: each is skipped and counted, none changes a thing. */
static void test_bad_updates(void **state) {
    (void)state;
    Error error = {""};
    scratch_create();
    write_corpus();
    Trainer t;
    open_trainer(&t, "updates = 100\nmax_bad_updates = 4\n");
    t.slab[t.table.total - 1] = NAN;
    real *before = memory_alloc(t.table.total, sizeof(real), "parameters");
    memcpy(before, t.slab, t.table.total * sizeof(real));
    StepResult r;
    assert_false(trainer_step(&t, &r));
    assert_int_equal(t.state.update, 1);
    assert_int_equal(t.adam.updates, 0);
    assert_true(r.drawn.pairs > 0 && r.first_line >= 1 && r.first_line <= 60);
    assert_int_equal(trainer_run(&t, &error), TRAIN_FAILED);
    assert_non_null(strstr(error.text, "4 updates in a row were not finite"));
    assert_int_equal(t.state.update, 5);
    assert_memory_equal(before, t.slab, t.table.total * sizeof(real));
    memory_free(before);
    trainer_close(&t);
    scratch_remove();
}

/* The order of the corpus belongs to its identity. */
static void test_another_corpus_is_refused(void **state) {
    (void)state;
    Error error = {""};
    scratch_create();
    write_corpus();
    Trainer t;
    open_trainer(&t, "updates = 3\n");
    assert_int_equal(trainer_run(&t, &error), TRAIN_UPDATES);
    uint64_t hash = corpus_hash(&t.train);
    int swap = t.train.line[0];
    t.train.line[0] = t.train.line[1];
    t.train.line[1] = swap;
    assert_true(corpus_hash(&t.train) != hash);
    t.train.line[1] = t.train.line[0];
    t.train.line[0] = swap;
    t.train.target.ids.ids[5] ^= 1;
    assert_true(corpus_hash(&t.train) != hash);
    assert_false(trainer_resume(&t, &error));
    assert_non_null(strstr(error.text, "corpus was"));
    trainer_close(&t);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_best_by_score),
        cmocka_unit_test(test_bad_updates),
        cmocka_unit_test(test_another_corpus_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
