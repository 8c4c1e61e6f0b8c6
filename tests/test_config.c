/* The configuration: defaults, every kind of mistake, overrides, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "run/config.h"
#include "tests/support/scratch.h"

#define NEEDED "[data]\ntrain_source = s\ntrain_target = t\n[output]\ndir = r\n" /* 5 lines */
#define LIMIT "[train]\nepochs = 1\n"

static void parse(Config *config, const char *text) {
    Error error;
    if (!config_parse(config, "c.ini", text, strlen(text), NULL, 0, &error)) fail_msg("%s", error.text);
}

static void test_defaults(void **state) {
    (void)state;
    Config c;
    parse(&c, NEEDED LIMIT);
    assert_string_equal(c.data.train_source, "s");
    assert_string_equal(c.data.valid_source, "");
    assert_int_equal(c.data.max_length, 250);
    assert_int_equal(c.tokenizer.vocab_size, 8000);
    assert_true(c.tokenizer.shared);
    assert_int_equal(c.model.encoder_d_model, 256);
    assert_int_equal(c.model.decoder_d_model, 256);
    assert_int_equal(c.model.d_k, 64);
    assert_int_equal(c.model.d_v, 64);
    assert_true(c.model.dropout == 0.1 && c.model.embedding_dropout == 0.1 && c.model.residual_dropout == 0.1);
    assert_true(c.train.adam_eps == 1e-9 && c.train.adam_beta2 == 0.98);
    assert_int_equal(c.train.threads, 0);
    assert_int_equal(c.train.piece_rows, 512);
    assert_int_equal(c.valid.every.count, 1);
    assert_int_equal(c.valid.every.unit, CONFIG_EPOCHS);
    config_free(&c);
    parse(&c, NEEDED LIMIT "[model]\ndecoder_d_model = 512\nd_k = 64\nd_v = 64\ntie_embeddings = decoder\n");
    assert_int_equal(c.train.piece_rows, 320); /* one of the widths is 512 */
    config_free(&c);
}

static void test_values(void **state) {
    (void)state;
    Config c;
    parse(&c, "[data]\ntrain_source = \" a # b \"\ntrain_target = t\nvalid_source = v\nvalid_target = w\n"
              "[tokenizer]\ntype = byte\nnormalization = nfkc\nlowercase = on\nshared = no\n"
              "[model]\nd_model = 128\nencoder_d_model = 64\nd_k = 10\nd_v = 6\nheads = 3\nnorm = pre\n"
              "activation = gelu\ntie_embeddings = decoder\ndropout = 0.25\nresidual_dropout = 0\n"
              "[train]\nminutes = 1.5\nseed = 18446744073709551615\nlanes = 3\nlr = 1e-3\nschedule = constant\n"
              "[valid]\nevery = 500\nmetric = exact_match\npatience = 4\n"
              "[output]\ndir = r\nsave_every = 2 epochs\n");
    assert_string_equal(c.data.train_source, " a # b ");
    assert_int_equal(c.tokenizer.type, TOKENIZER_BYTE);
    assert_int_equal(c.tokenizer.normalization, NORMALIZATION_NFKC);
    assert_true(c.tokenizer.lowercase && !c.tokenizer.shared);
    assert_int_equal(c.model.encoder_d_model, 64);
    assert_int_equal(c.model.decoder_d_model, 128);
    assert_int_equal(c.model.d_k, 10);
    assert_int_equal(c.model.d_v, 6);
    assert_int_equal(c.model.norm, CONFIG_NORM_PRE);
    assert_int_equal(c.model.activation, CONFIG_ACTIVATION_GELU);
    assert_int_equal(c.model.tie_embeddings, CONFIG_TIE_DECODER);
    assert_true(c.model.embedding_dropout == 0.25 && c.model.residual_dropout == 0);
    assert_true(c.train.minutes == 1.5 && c.train.lr == 1e-3);
    assert_true(c.train.seed == UINT64_MAX);
    assert_int_equal(c.train.lanes, 3);
    assert_int_equal(c.valid.every.count, 500);
    assert_int_equal(c.valid.every.unit, CONFIG_UPDATES);
    assert_int_equal(c.output.save_every.count, 2);
    assert_int_equal(c.output.save_every.unit, CONFIG_EPOCHS);
    config_free(&c);
}

/* Each text has exactly this report. */
static void test_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *report;
    } cases[] = {
        {LIMIT, "c.ini: [output] dir is missing; give it (directory of the run)\n"
                "c.ini: there is no training text; give [data] train_source and train_target, or train_tsv"},
        {"[data]\ntrain_source =\ntrain_target = t\n[output]\ndir = r\n" LIMIT,
         "c.ini:2: train_target is given without train_source; give both or none"},
        {"[output]\ndir = r\n[data]\ntrain_tsv =\n" LIMIT,
         "c.ini:4: there is no training text; give [data] train_source and train_target, or train_tsv"},
        {"[data]\ntrain_tsv = p\ntrain_target = t\n[output]\ndir = r\n" LIMIT,
         "c.ini:3: train_tsv and train_target are both given; give one and leave the other empty"},
        {"[data]\ntrain_source = a, b\ntrain_target = t\n[output]\ndir = r\n" LIMIT,
         "c.ini:2: train_source has 2 paths but train_target has 1; give as many, in the same order"},
        {"[data]\ntrain_source = a,, b\ntrain_target = t,\n[output]\ndir = r\n" LIMIT,
         "c.ini:2: train_source has an empty path between its commas; write a.en, b.en, or \\, for a comma in a path\n"
         "c.ini:3: train_target has an empty path between its commas; write a.en, b.en, or \\, for a comma in a path"},
        {"[data]\ntrain_tsv = p\nmax_ratio = 0.5\n[output]\ndir = r\n" LIMIT,
         "c.ini:3: max_ratio = 0.5 would drop every pair; give 1 or more, or 0 for any"},
        {NEEDED, "c.ini: training would never end; give [train] epochs, updates or minutes"},
        {NEEDED "[train]\nepochs = 0\n", "c.ini:7: training would never end; give [train] epochs, updates or minutes"},
        {NEEDED LIMIT "[modle]\nd_model = 3\n", "c.ini:8: unknown section [modle]; did you mean [model]?"},
        {NEEDED LIMIT "[network]\n", "c.ini:8: unknown section [network]; ./train --help-config lists all"},
        {NEEDED LIMIT "[model]\nd_mdoel = 3\n", "c.ini:9: unknown key \"d_mdoel\" in [model]; did you mean d_model?"},
        {NEEDED LIMIT "wamrup = 3\n", "c.ini:8: unknown key \"wamrup\" in [train]; did you mean warmup?"},
        {NEEDED LIMIT "heads = 3\n", "c.ini:8: unknown key \"heads\" in [train]; did you mean heads in [model]?"},
        {NEEDED LIMIT "zzzzzzzz = 3\n",
         "c.ini:8: unknown key \"zzzzzzzz\" in [train]; ./train --help-config lists all"},
        {NEEDED LIMIT "warmup = 3x\n",
         "c.ini:8: [train] warmup cannot be \"3x\"; give a whole number from 0 to 1000000000"},
        {NEEDED LIMIT "warmup = -1\n",
         "c.ini:8: [train] warmup cannot be \"-1\"; give a whole number from 0 to 1000000000"},
        {NEEDED LIMIT "warmup =\n", "c.ini:8: [train] warmup cannot be \"\"; give a whole number from 0 to 1000000000"},
        {NEEDED LIMIT "threads = some\n",
         "c.ini:8: [train] threads cannot be \"some\"; give a whole number from 1 to 4096, or auto"},
        {NEEDED LIMIT "lr = nan\n", "c.ini:8: [train] lr cannot be \"nan\"; give a number from 1e-12 to 1000"},
        {NEEDED LIMIT "lr = 0x1\n", "c.ini:8: [train] lr cannot be \"0x1\"; give a number from 1e-12 to 1000"},
        {NEEDED LIMIT "lr = 1e999\n", "c.ini:8: [train] lr cannot be \"1e999\"; give a number from 1e-12 to 1000"},
        {NEEDED LIMIT "label_smoothing = 1\n",
         "c.ini:8: [train] label_smoothing cannot be \"1\"; give a number from 0 to below 1"},
        {NEEDED LIMIT "seed = -1\n",
         "c.ini:8: [train] seed cannot be \"-1\"; give a whole number from 0 to 18446744073709551615"},
        {NEEDED LIMIT "seed = 18446744073709551616\n",
         "c.ini:8: [train] seed cannot be \"18446744073709551616\"; give a whole number from 0 to "
         "18446744073709551615"},
        {NEEDED LIMIT "schedule = Constant\n", "c.ini:8: [train] schedule cannot be \"Constant\"; give inverse_sqrt, "
                                               "noam, linear, cosine, constant or plateau"},
        {NEEDED LIMIT "[tokenizer]\nlowercase = maybe\n",
         "c.ini:9: [tokenizer] lowercase cannot be \"maybe\"; give yes or no"},
        {NEEDED LIMIT "[tokenizer]\nnormalization = nf\n",
         "c.ini:9: [tokenizer] normalization cannot be \"nf\"; give none, nfc or nfkc"},
        {NEEDED LIMIT "[valid]\nevery = 1 day\n", "c.ini:9: [valid] every cannot be \"1 day\"; give a number "
                                                  "of updates or epochs, as in 500 updates or 1 "
                                                  "epoch"},
        {NEEDED LIMIT "[valid]\nevery = 0\n",
         "c.ini:9: [valid] every cannot be \"0\"; give a number of updates or epochs, as in 500 updates or 1 "
         "epoch"},
        {NEEDED LIMIT "[decode]\nbeam_size = 0\n",
         "c.ini:9: [decode] beam_size cannot be \"0\"; give a whole number from 1 to 1000"},
        {NEEDED LIMIT "warmup = 1\nwarmup = 2\n",
         "c.ini:9: [train] warmup was given in line 8 already; keep one of them"},
        {NEEDED LIMIT "[model]\nheads = 3\n",
         "c.ini:9: 3 heads do not divide the width 256; change one of them, or give d_k and d_v"},
        {NEEDED LIMIT "[model]\nd_model = 255\nheads = 5\n",
         "c.ini:9: the encoder's width 255 is odd, but sinusoidal positions are pairs; use 256"},
        {NEEDED LIMIT "[model]\ndecoder_d_model = 127\nd_k = 4\nd_v = 4\ntie_embeddings = none\n",
         "c.ini:9: the decoder's width 127 is odd, but sinusoidal positions are pairs; use 128"},
        {NEEDED LIMIT "[model]\nencoder_d_model = 128\ntie_embeddings = none\nd_k = 4\n",
         "c.ini:9: d_k and d_v = auto need equal widths, but the encoder has 128 and the decoder 256; give "
         "both"},
        {NEEDED LIMIT "[model]\nencoder_d_model = 128\nd_k = 4\nd_v = 4\n",
         "c.ini:9: tie_embeddings = all needs equal widths, but the encoder has 128 and the decoder 256; use "
         "decoder or none"},
        {NEEDED LIMIT "[tokenizer]\nshared = no\n", "c.ini:9: tie_embeddings = all needs one vocabulary, but "
                                                    "[tokenizer] shared is no; use decoder or none"},
        {NEEDED LIMIT "[valid]\npatience = 3\n",
         "c.ini:9: patience = 3 needs a validation set; give [data] valid_source and valid_target"},
        {NEEDED LIMIT "[average]\nbest = 3\n",
         "c.ini:9: best = 3 needs a validation set; give [data] valid_source and valid_target, or use last"},
        {NEEDED LIMIT "[average]\nlast = 2\nbest = 3\n",
         "c.ini:10: last = 2 and best = 3 are both given; set one of them to 0"},
        {"[data]\ntrain_source = s\ntrain_target = t\nvalid_source = v\n[output]\ndir = r\n" LIMIT,
         "c.ini:4: valid_source is given without valid_target; give both or none"},
        {"[data]\ntrain_source = s\ntrain_target = t\nvalid_target = v\n[output]\ndir = r\n" LIMIT,
         "c.ini:4: valid_target is given without valid_source; give both or none"},
        {NEEDED LIMIT "warmup = 0\n",
         "c.ini:8: schedule = inverse_sqrt falls from the end of warmup, but warmup is 0; give 1 or more"},
        {NEEDED LIMIT "lr = 1\nschedule = noam\nwarmup = 0\nwarmup_start = 0.1\n",
         "c.ini:10: schedule = noam falls from the end of warmup, but warmup is 0; give 1 or more\n"
         "c.ini:11: schedule = noam rises from 0; leave out warmup_start"},
        {NEEDED LIMIT "schedule = noam\n",
         "c.ini:8: schedule = noam takes [train] lr as a factor, for which there is no "
         "default; give 1, as in the paper, or 2"},
        {NEEDED LIMIT "schedule = cosine\nwarmup = 5\n", "c.ini:8: schedule = cosine falls from the end of warmup to "
                                                         "the last of [train] updates; give more updates than "
                                                         "warmup"},
        {NEEDED LIMIT "schedule = linear\nwarmup = 5\nupdates = 5\n",
         "c.ini:10: schedule = linear falls from the end of warmup to the last of [train] updates; give more updates "
         "than warmup"},
        {NEEDED LIMIT "lr = 0.01\nwarmup_start = 0.02\n",
         "c.ini:9: warmup_start = 0.02 is above lr = 0.01, to which the rate rises; lower it"},
        {NEEDED LIMIT "lr_min = 0.0001\n", "c.ini:8: schedule = inverse_sqrt has no lowest rate; leave out lr_min"},
        {NEEDED LIMIT "updates = 9000\nschedule = cosine\nlr_min = 0.0006\n",
         "c.ini:10: lr_min = 0.0006 is above lr = 0.0005; lower it"},
        {NEEDED LIMIT "schedule = plateau\n",
         "c.ini:8: schedule = plateau needs a validation set; give [data] valid_source and valid_target"},
        {"[data]\ntrain_tsv = t\nvalid_tsv = v\n[output]\ndir = r\n" LIMIT
         "schedule = plateau\nplateau_patience = 4\n[valid]\npatience = 4\n",
         "c.ini:11: with patience = 4 training stops before plateau_patience = 4 lowers the rate; give a larger "
         "patience"},
        {NEEDED LIMIT "momentum = 0.9\noptimizer = adamw\n",
         "c.ini:8: momentum is for optimizer = sgd; Adam has adam_beta1 instead"},
        /* Nothing is concluded from a value that is wrong itself; the rest is reported together, by line. */
        {NEEDED "[train]\nepochs = many\nlr = fast\n[model]\nheads = x\nd_model = 250\nd_modle = 1\nword\n",
         "c.ini:7: [train] epochs cannot be \"many\"; give a whole number from 0 to 1000000000\n"
         "c.ini:8: [train] lr cannot be \"fast\"; give a number from 1e-12 to 1000\n"
         "c.ini:10: [model] heads cannot be \"x\"; give a whole number from 1 to 1024\n"
         "c.ini:12: unknown key \"d_modle\" in [model]; did you mean d_model?\n"
         "c.ini:13: \"word\" is neither [section] nor key = value; start a comment with #"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Config c;
        Error error;
        assert_false(config_parse(&c, "c.ini", cases[i].text, strlen(cases[i].text), NULL, 0, &error));
        assert_string_equal(error.text, cases[i].report);
    }
}

static void test_overrides(void **state) {
    (void)state;
    Config c;
    Error error;
    const char *text = NEEDED LIMIT "lr = 0.1\n";
    const char *const right[] = {"train.lr=0.2", "train.lr=0.3", "output.dir= a#b=c", "data.valid_source=v",
                                 "data.valid_target=w"};
    assert_true(config_parse(&c, "c.ini", text, strlen(text), right, 5, &error));
    assert_true(c.train.lr == 0.3);
    assert_string_equal(c.output.dir, " a#b=c");
    config_free(&c);
    const char *const wrong[] = {"train.lr=x",    "train.rl=1", "trian.lr=1",           "lr=1",           "train.lr",
                                 "model.heads=3", "",           "tokenizer.lowercase=", "output.dir=a\nb"};
    assert_false(config_parse(&c, "c.ini", text, strlen(text), wrong, 9, &error));
    assert_string_equal(
        error.text, "--set train.lr: [train] lr cannot be \"x\"; give a number from 1e-12 to 1000\n"
                    "--set train.rl: unknown key \"rl\" in [train]; did you mean lr?\n"
                    "--set trian.lr: unknown section [trian]; did you mean [train]?\n"
                    "--set lr=1: is not of the form section.key=value; write --set train.lr=0.001\n"
                    "--set train.lr: is not of the form section.key=value; write --set train.lr=0.001\n"
                    "--set : is not of the form section.key=value; write --set train.lr=0.001\n"
                    "--set tokenizer.lowercase: [tokenizer] lowercase cannot be \"\"; give yes or no\n"
                    "--set output.dir: [output] dir cannot be \"a\\x0Ab\"; give a path\n"
                    "--set model.heads: 3 heads do not divide the width 256; change one of them, or give d_k and d_v");
}

static void test_files(void **state) {
    (void)state;
    Config c;
    Error error;
    scratch_create();
    const char *missing = scratch_path("none.ini"), *file = scratch_path("c.ini");
    char expected[1024];
    assert_false(config_load(&c, missing, NULL, 0, &error));
    snprintf(expected, sizeof expected, "%s: there is no such file; check the path", missing);
    assert_string_equal(error.text, expected);
    scratch_write(file, NEEDED LIMIT "x\n", strlen(NEEDED LIMIT "x\n"));
    assert_false(config_load(&c, file, NULL, 0, &error));
    snprintf(expected, sizeof expected, "%s:8: \"x\" is neither [section] nor key = value; start a comment with #",
             file);
    assert_string_equal(error.text, expected);
    scratch_write(file, NEEDED LIMIT, strlen(NEEDED LIMIT));
    assert_true(config_load(&c, file, NULL, 0, &error));
    assert_true(config_write(&c, file, &error));
    Config again;
    assert_true(config_load(&again, file, NULL, 0, &error));
    config_free(&again);
    assert_false(config_write(&c, scratch_path("none/c.ini"), &error));
    assert_non_null(strstr(error.text, "none/c.ini.tmp: could not be created: No such file or directory"));
    config_free(&c);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),  cmocka_unit_test(test_values), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_overrides), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
