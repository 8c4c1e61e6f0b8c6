/* The configuration of a run: an INI file and --set options become one typed struct.
 *
 * run/config.c holds the table of keys: section, key, type, default, range, help, and whether it may change
 * on resume. The table parses, checks, prints `--help-config` and writes config.ini. A new key is one field
 * here and one line there. What several keys have to agree on is in run/config_check.c.
 *
 * After config_load no value is `auto` any more, except threads and lanes (0), which depend on the machine:
 * the trainer sets them before it writes config.ini. */
#ifndef RUN_CONFIG_H
#define RUN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "tokenizer/text_report.h"

typedef enum ConfigNorm { CONFIG_NORM_POST, CONFIG_NORM_PRE } ConfigNorm;
typedef enum ConfigActivation { CONFIG_ACTIVATION_RELU, CONFIG_ACTIVATION_GELU } ConfigActivation;
typedef enum ConfigPositions { CONFIG_POSITIONS_SINUSOIDAL } ConfigPositions;
typedef enum ConfigTie { CONFIG_TIE_ALL, CONFIG_TIE_DECODER, CONFIG_TIE_NONE } ConfigTie;
typedef enum ConfigSchedule {
    CONFIG_SCHEDULE_INVERSE_SQRT,
    CONFIG_SCHEDULE_NOAM,
    CONFIG_SCHEDULE_LINEAR,
    CONFIG_SCHEDULE_COSINE,
    CONFIG_SCHEDULE_CONSTANT,
    CONFIG_SCHEDULE_PLATEAU
} ConfigSchedule;
typedef enum ConfigOptimizer { CONFIG_OPTIMIZER_ADAM, CONFIG_OPTIMIZER_ADAMW, CONFIG_OPTIMIZER_SGD } ConfigOptimizer;
typedef enum ConfigMetric {
    CONFIG_METRIC_NLL,
    CONFIG_METRIC_EXACT_MATCH,
    CONFIG_METRIC_BLEU,
    CONFIG_METRIC_CHRF
} ConfigMetric;
typedef enum ConfigWriteError { CONFIG_STOP, CONFIG_CONTINUE } ConfigWriteError;

/* Every so many updates or epochs: `500` or `500 updates`, `1 epoch`. */
typedef enum ConfigUnit { CONFIG_UPDATES, CONFIG_EPOCHS } ConfigUnit;
typedef struct ConfigInterval {
    int count;
    ConfigUnit unit;
} ConfigInterval;

/* Texts are never NULL; "" is one that was not given. */
typedef struct ConfigData {
    /* Lists of paths (base/path_list.h): two sides with as many files each, or TSV files. */
    char *train_source, *train_target, *train_tsv;
    char *valid_source, *valid_target, *valid_tsv;
    int max_length;       /* tokens a side */
    double max_ratio;     /* between the sides' tokens; 0 = any */
    bool drop_duplicates; /* max_ratio and this: of training pairs */
} ConfigData;

typedef struct ConfigTokenizerSection {
    TokenizerType type;
    int vocab_size;
    Normalization normalization;
    bool lowercase, shared;
    int min_frequency;
    double dropout; /* BPE-dropout, of training pairs */
    InvalidUtf8 invalid_utf8;
} ConfigTokenizerSection;

typedef struct ConfigModel {
    int d_model, encoder_d_model, decoder_d_model;
    int encoder_layers, decoder_layers;
    int heads, d_k, d_v; /* d_k and d_v per head */
    int ffn_dim;
    ConfigNorm norm;
    ConfigActivation activation;
    ConfigPositions positions;
    ConfigTie tie_embeddings;
    double qkv_gain;
    double dropout, embedding_dropout, residual_dropout, attention_dropout, activation_dropout;
    double source_word_dropout, target_word_dropout;
} ConfigModel;

typedef struct ConfigTrain {
    int batch_tokens; /* target tokens of a batch; an update has `accumulate` batches */
    int epochs, updates;
    double minutes; /* 0 = no limit, for all three */
    double lr;
    ConfigSchedule schedule;
    int warmup; /* updates */
    double warmup_start, lr_min;
    double plateau_factor;
    int plateau_patience; /* validations */
    double label_smoothing, rdrop, clip_norm;
    ConfigOptimizer optimizer;
    double adam_beta1, adam_beta2, adam_eps, momentum, weight_decay;
    double ema; /* 0 = off */
    int accumulate;
    uint64_t seed;
    int threads, lanes; /* 0 = auto */
    int piece_rows;     /* target tokens */
    char *init_from;    /* directory of a run, or "" */
    int max_bad_updates;
} ConfigTrain;

typedef struct ConfigValid {
    ConfigInterval every;
    ConfigMetric metric;
    int patience; /* validations; 0 = off */
    int samples;  /* translations kept in metrics.jsonl */
} ConfigValid;

/* What becomes the mean of some snapshots of the weights; both 0: nothing. */
typedef struct ConfigAverage {
    int last, best; /* snapshots */
    ConfigInterval every;
} ConfigAverage;

enum { CONFIG_MOST_SNAPSHOTS = 50 };

typedef struct ConfigDecode {
    int beam_size;
    double length_penalty;    /* a hypothesis scores log p / length^this */
    double max_length_factor; /* at most factor * source tokens + extra target tokens */
    int max_length_extra;
} ConfigDecode;

typedef struct ConfigOutput {
    char *dir;
    int log_every; /* updates */
    ConfigInterval save_every;
    int log_norms; /* updates; 0: never */
    bool tensorboard;
    ConfigWriteError on_write_error;
} ConfigOutput;

typedef struct Config {
    ConfigData data;
    ConfigTokenizerSection tokenizer;
    ConfigModel model;
    ConfigTrain train;
    ConfigValid valid;
    ConfigAverage average;
    ConfigDecode decode;
    ConfigOutput output;
} Config;

/* Reads the file at `path`, then applies overrides[0..count), each "section.key=value", the last one of a key
 * winning. All mistakes are reported together, each as "file:line: fact; remedy" or
 * "--set section.key: fact; remedy". On failure there is nothing to free. */
bool config_load(Config *config, const char *path, const char *const *overrides, int count, Error *error);

/* The same from text in memory; `name` stands for the file in messages. */
bool config_parse(Config *config, const char *name, const char *text, size_t size, const char *const *overrides,
                  int count, Error *error);

void config_free(Config *config);

/* A commented template: all keys with help, range and default. It is itself a configuration once the
 * required values are filled in. */
void config_print_help(FILE *out);

/* The configuration as text that config_parse reads back to the same values, every key written out; from
 * memory_alloc. config_write replaces the file at `path` by it (base/file.h). */
char *config_text(const Config *config);
bool config_write(const Config *config, const char *path, Error *error);

/* The value of "section.key" as config.ini would show it, from memory_alloc; NULL for an unknown name. */
char *config_get_text(const Config *config, const char *name);

/* What differs between a run's saved configuration and the one now asked for. */
typedef struct ConfigChange {
    const char *section, *key;
    char *saved, *asked; /* values as config.ini shows them */
} ConfigChange;

typedef struct ConfigChanges {
    ConfigChange *change; /* [count], only keys that may change */
    int count;
} ConfigChanges;

/* For a resume. First, lanes left `auto` take the saved number; threads left `auto` are no difference. True:
 * `changes` lists the keys that differ, all of which may change. False: `error` names each of the others with
 * both values, `place` (the saved file) in front, and there is nothing to free. */
bool config_resume(ConfigChanges *changes, Config *asked, const Config *saved, const char *place, Error *error);
void config_changes_free(ConfigChanges *changes);

#endif
