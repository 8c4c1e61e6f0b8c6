/* The configuration as text: writing and reading back, --help-config, resume, and any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "run/config.h"

#define NEEDED "[data]\ntrain_source = s\ntrain_target = t\n[output]\ndir = r\n" /* 5 lines */
#define LIMIT "[train]\nepochs = 1\n"

static void parse(Config *config, const char *text) {
    Error error;
    if (!config_parse(config, "c.ini", text, strlen(text), NULL, 0, &error)) fail_msg("%s", error.text);
}

/* Written and read back, a configuration is the same in every key, and so is the text. */
static void test_round_trip(void **state) {
    (void)state;
    Config c, again;
    parse(&c, "[data]\ntrain_source = \" \\\"a # b\\\\ \"\ntrain_target = \xFF\xC3\xA9\n[output]\ndir = r\n"
              "[tokenizer]\nnormalization = nfc\nlowercase = yes\n[train]\nlr = 0.12345678901234567\n"
              "updates = 7\nclip_norm = 1e-5\nadam_eps = 3.3e-10\nseed = 12345678901234567890\n"
              "[valid]\nevery = 1\n[model]\nembedding_dropout = 0.3\nencoder_d_model = 64\nd_k = 2\nd_v = 3\n"
              "tie_embeddings = none\n");
    char *text = config_text(&c);
    parse(&again, text);
    char *second = config_text(&again);
    assert_string_equal(text, second);
    assert_string_equal(again.data.train_source, " \"a # b\\ ");
    assert_true(again.train.lr == 0.12345678901234567);
    assert_non_null(strstr(text, "\nevery = 1 update\n"));
    assert_non_null(strstr(text, "\nadam_eps = 3.3e-10\n"));
    assert_non_null(strstr(text, "\nlanes = auto\n"));
    assert_non_null(strstr(text, "\nvalid_source =\n"));
    memory_free(text);
    memory_free(second);
    config_free(&c);
    config_free(&again);
}

static void test_get_text(void **state) {
    (void)state;
    Config c;
    parse(&c, NEEDED LIMIT);
    static const struct {
        const char *name, *text;
    } cases[] = {{"train.lr", "0.0005"},     {"model.d_k", "64"},         {"train.threads", "auto"},
                 {"valid.every", "1 epoch"}, {"output.dir", "r"},         {"model.tie_embeddings", "all"},
                 {"model.dropout", "0.1"},   {"tokenizer.shared", "yes"}, {"train.adam_eps", "1e-09"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = config_get_text(&c, cases[i].name);
        assert_string_equal(text, cases[i].text);
        memory_free(text);
    }
    assert_null(config_get_text(&c, "train"));
    assert_null(config_get_text(&c, "train."));
    assert_null(config_get_text(&c, "train.x"));
    assert_null(config_get_text(&c, "trainxlr"));
    config_free(&c);
}

/* --help-config is a configuration once the required values are given, and it shows the true defaults. */
static void test_help(void **state) {
    (void)state;
    char *help;
    size_t size;
    FILE *out = open_memstream(&help, &size);
    config_print_help(out);
    fclose(out);
    const char *const required[] = {"data.train_source=s", "data.train_target=t", "output.dir=r", "train.epochs=1"};
    Config c, plain;
    Error error;
    assert_false(config_parse(&c, "help", help, size, required, 2, &error));
    assert_non_null(strstr(error.text, "[output] dir is empty; it is required"));
    /* The template's own empty required values are mistakes; fill them in as a user would. */
    char *filled = malloc(size + 64);
    char *p = filled;
    for (const char *h = help; *h; h++) {
        *p++ = *h;
        bool needs = h[0] == '=' && h[1] == '\n' &&
                     (strncmp(h - 13, "train_source ", 13) == 0 || strncmp(h - 13, "train_target ", 13) == 0 ||
                      strncmp(h - 5, "\ndir ", 5) == 0);
        if (needs) *p++ = 'x';
    }
    *p = '\0';
    assert_true(config_parse(&c, "help", filled, strlen(filled), required, 4, &error));
    parse(&plain, NEEDED LIMIT);
    char *a = config_text(&c), *b = config_text(&plain);
    assert_string_equal(a, b);
    memory_free(a);
    memory_free(b);
    config_free(&c);
    config_free(&plain);
    free(filled);
    free(help);
}

static void test_resume(void **state) {
    (void)state;
    Config saved, asked;
    ConfigChanges changes;
    Error error;
    parse(&saved, NEEDED LIMIT "threads = 2\nlanes = 2\n");
    parse(&asked, NEEDED LIMIT);
    assert_true(config_resume(&changes, &asked, &saved, "r/config.ini", &error));
    assert_int_equal(changes.count, 0);
    assert_int_equal(asked.train.lanes, 2);
    assert_int_equal(asked.train.threads, 0);
    config_changes_free(&changes);
    config_free(&asked);

    parse(&asked, "[data]\ntrain_source = s\ntrain_target = t\n[output]\ndir = q\nlog_every = 1\n"
                  "save_every = 9\n[train]\nepochs = 3\nupdates = 5\nminutes = 2\nlr = 0.1\nthreads = 1\n"
                  "[valid]\nevery = 5\nmetric = exact_match\n");
    assert_true(config_resume(&changes, &asked, &saved, "r/config.ini", &error));
    static const char *const expected[][3] = {{"epochs", "1", "3"},
                                              {"updates", "0", "5"},
                                              {"minutes", "0", "2"},
                                              {"lr", "0.0005", "0.1"},
                                              {"threads", "2", "1"},
                                              {"every", "1 epoch", "5 updates"},
                                              {"metric", "nll", "exact_match"},
                                              {"dir", "r", "q"},
                                              {"log_every", "100", "1"},
                                              {"save_every", "1 epoch", "9 updates"}};
    assert_int_equal(changes.count, 10);
    for (int i = 0; i < changes.count; i++) {
        assert_string_equal(changes.change[i].key, expected[i][0]);
        assert_string_equal(changes.change[i].saved, expected[i][1]);
        assert_string_equal(changes.change[i].asked, expected[i][2]);
    }
    config_changes_free(&changes);
    config_free(&asked);

    parse(&asked, NEEDED "[train]\nepochs = 9\nlanes = 3\nwarmup = 1\n[model]\nd_model = 512\nd_k = 64\nd_v = 64\n");
    assert_false(config_resume(&changes, &asked, &saved, "r/config.ini", &error));
    static const char line[] = "r/config.ini: [%s] %s is \"%s\" in this run, but \"%s\" is asked for; keep it, or "
                               "start over with --fresh";
    static const char *const refused[][4] = {{"model", "d_model", "256", "512"},
                                             {"model", "encoder_d_model", "256", "512"},
                                             {"model", "decoder_d_model", "256", "512"},
                                             {"train", "warmup", "4000", "1"},
                                             {"train", "lanes", "2", "3"},
                                             {"train", "piece_rows", "512", "320"}};
    char text[4096] = "";
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (i > 0) strcat(text, "\n");
        snprintf(text + strlen(text), sizeof text - strlen(text), line, refused[i][0], refused[i][1], refused[i][2],
                 refused[i][3]);
    }
    assert_string_equal(error.text, text);
    config_free(&asked);
    config_free(&saved);
}

static void test_any_bytes(void **state) {
    (void)state;
    Config base;
    parse(&base, NEEDED LIMIT);
    char *good = config_text(&base);
    size_t size = strlen(good), accepted = 0;
    Rng rng = {23};
    for (int round = 0; round < 2000; round++) {
        char *text = malloc(size);
        memcpy(text, good, size);
        int changes = 1 + (int)rng_below(&rng, 6);
        for (int i = 0; i < changes; i++) {
            static const char special[] = "\n=[]\"#-.e0119 a";
            text[rng_below(&rng, size)] =
                rng_below(&rng, 2) ? special[rng_below(&rng, sizeof special - 1)] : (char)rng_next(&rng);
        }
        Config c;
        Error error;
        if (config_parse(&c, "c.ini", text, size, NULL, 0, &error)) {
            accepted++;
            config_free(&c);
        } else {
            assert_true(error.text[0] != '\0');
        }
        free(text);
    }
    assert_true(accepted > 10 && accepted < 1900);
    memory_free(good);
    config_free(&base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_get_text),  cmocka_unit_test(test_help),
        cmocka_unit_test(test_resume),     cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
