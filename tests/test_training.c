/* Training as a whole: the limits that end a run, updates that are not finite, and what threads,
 * lanes and pieces may change: nothing, or the rounding. */
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
#include "training/state.h"
#include "training/validate.h"

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

/* `more` starts in [train]. */
static void open_with_threads(Trainer *t, const char *more, int threads) {
    char text[2048];
    Config config;
    Error error = {""};
    int n = snprintf(text, sizeof text,
                     "[data]\ntrain_source = %s\ntrain_target = %s\nvalid_source = %s\nvalid_target = %s\n"
                     "[tokenizer]\nvocab_size = 280\n[output]\ndir = %s\nlog_every = 1000000\n"
                     "save_every = 1000000 epochs\n[model]\nd_model = 8\nffn_dim = 8\nheads = 2\nencoder_layers = 1\n"
                     "decoder_layers = 1\n[decode]\nmax_length_factor = 1\nmax_length_extra = 2\n"
                     "[train]\nbatch_tokens = 100\nwarmup = 1\nthreads = %d\n%s",
                     scratch_path("s"), scratch_path("t"), scratch_path("s"), scratch_path("t"), scratch_path("run"),
                     threads, more);
    assert_true(n < (int)sizeof text);
    if (!config_parse(&config, "c.ini", text, (size_t)n, NULL, 0, &error)) fail_msg("%s", error.text);
    if (!trainer_open(t, &config, false, &error)) fail_msg("%s", error.text);
}

static void open_trainer(Trainer *t, const char *more) { open_with_threads(t, more, 2); }

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
    assert_int_equal(t.optimizer.updates, 0);
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

static real *copy_of(const real *x, size_t count) {
    return memcpy(memory_alloc(count, sizeof(real), "test"), x, count * sizeof(real));
}

/* What 50 updates leave. */
typedef struct Trained {
    size_t size;
    real *parameters, *m, *v; /* [size] */
} Trained;

static Trained train_for_50(int threads) {
    StepResult r;
    Trainer t;
    scratch_create();
    write_corpus();
    open_with_threads(&t, "updates = 50\nlr = 0.01\nlanes = 3\npiece_rows = 11\nlabel_smoothing = 0.1\n", threads);
    for (int update = 0; update < 50; update++) assert_true(trainer_step(&t, &r));
    assert_true(r.drawn.pieces > t.lanes.lanes);
    size_t size = t.table.total;
    Trained trained = {size, copy_of(t.slab, size), copy_of(t.optimizer.m, size), copy_of(t.optimizer.v, size)};
    trainer_close(&t);
    scratch_remove();
    return trained;
}

static void trained_free(Trained *trained) {
    memory_free(trained->parameters);
    memory_free(trained->m);
    memory_free(trained->v);
}

/* Same lanes, same bits: on one to four threads, and with the same threads again. */
static void test_threads_change_no_bit_of_training(void **state) {
    (void)state;
    Trained one = train_for_50(1);
    for (int threads = 1; threads <= 4; threads++) {
        Trained more = train_for_50(threads);
        assert_int_equal(more.size, one.size);
        assert_memory_equal(more.parameters, one.parameters, one.size * sizeof(real));
        assert_memory_equal(more.m, one.m, one.size * sizeof(real));
        assert_memory_equal(more.v, one.v, one.size * sizeof(real));
        trained_free(&more);
    }
    trained_free(&one);
}

/* The first update, whose gradient is left in slab 0; then some more, which must work too. */
static StepResult take_updates(Trainer *t, real **gradient, const char *settings, int threads) {
    StepResult first, r;
    scratch_create();
    write_corpus();
    open_with_threads(t, settings, threads);
    assert_true(trainer_step(t, &first));
    *gradient = copy_of(t->lanes.slab[0], t->table.total);
    for (int i = 0; i < 10; i++) assert_true(trainer_step(t, &r));
    return first;
}

static void close_trainer(Trainer *t) {
    trainer_close(t);
    scratch_remove();
}

/* More threads than lanes, more lanes than pieces, pieces that are asked to be smaller than any sentence. */
static void test_odd_numbers_of_lanes_and_pieces(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        int threads;
    } odd[] = {{"updates = 20\nlanes = 1\n", 4},
               {"updates = 20\nlanes = 40\n", 3},
               {"updates = 20\nlanes = 5\npiece_rows = 1\n", 2},
               {"updates = 20\nlanes = 40\npiece_rows = 1\n", 7}};
    Trainer t;
    real *right, *gradient;
    StepResult whole = take_updates(&t, &right, "updates = 20\nlanes = 1\npiece_rows = 100000\n", 1);
    assert_int_equal(whole.drawn.pieces, 1);
    close_trainer(&t);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        StepResult r = take_updates(&t, &gradient, odd[i].settings, odd[i].threads);
        assert_int_equal(r.drawn.pairs, whole.drawn.pairs);
        assert_true(odd[i].threads > t.lanes.lanes || t.lanes.lanes > r.drawn.pieces ||
                    (r.drawn.pieces == r.drawn.pairs && t.config.train.piece_rows == 1));
        assert_near(r.loss.objective, whole.loss.objective, 1e-6);
        assert_near(r.grad_norm, whole.grad_norm, 1e-6);
        assert_below(relative_difference(gradient, right, t.table.total), 2e-6);
        memory_free(gradient);
        close_trainer(&t);
    }
    memory_free(right);
}

/* Loss and translations of a validation are those of the average: they stay when the last weights are gone. */
static void test_average_is_validated(void **state) {
    (void)state;
    static const char *const metrics[] = {"nll", "bleu"};
    for (int i = 0; i < 2; i++) {
        char settings[128];
        Error error = {""};
        StepResult r;
        Trainer t;
        scratch_create();
        write_corpus();
        snprintf(settings, sizeof settings, "updates = 60\nlr = 0.02\nema = 0.5\n[valid]\nmetric = %s\n", metrics[i]);
        open_trainer(&t, settings);
        for (int update = 0; update < 60; update++) assert_true(trainer_step(&t, &r));
        assert_true(trainer_validate(&t, (ValidMetrics){0}, &error));
        double value = t.state.best;
        assert_true(value > 0);
        memset(t.slab, 0, t.table.total * sizeof(real));
        t.state.best_update = 0;
        assert_true(trainer_validate(&t, (ValidMetrics){0}, &error));
        assert_true(t.state.best == value);
        close_trainer(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_best_by_score),
        cmocka_unit_test(test_bad_updates),
        cmocka_unit_test(test_another_corpus_is_refused),
        cmocka_unit_test(test_threads_change_no_bit_of_training),
        cmocka_unit_test(test_odd_numbers_of_lanes_and_pieces),
        cmocka_unit_test(test_average_is_validated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
