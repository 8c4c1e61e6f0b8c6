#include "run/config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/memory.h"
#include "run/config_check.h"
#include "run/config_value.h"

/* clang-format off */
#define KEY(section, field, type, standard, least, most, choices, resume, help) \
    {#section, #field, type, offsetof(Config, section.field), standard, least, most, choices, resume, help}
#define INT(section, field, standard, least, most, resume, help) \
    KEY(section, field, CONFIG_INT, standard, least, most, NULL, resume, help)
#define REAL(section, field, standard, least, most, resume, help) \
    KEY(section, field, CONFIG_REAL, standard, least, most, NULL, resume, help)
#define RATE(section, field, standard, resume, help) \
    KEY(section, field, CONFIG_RATE, standard, 0, 1, NULL, resume, help)
#define BOOL(section, field, standard, resume, help) \
    KEY(section, field, CONFIG_BOOL, standard, 0, 1, NULL, resume, help)
#define CHOICE(section, field, standard, choices, resume, help) \
    KEY(section, field, CONFIG_CHOICE, standard, 0, 0, choices, resume, help)
#define EVERY(section, field, standard, resume, help) \
    KEY(section, field, CONFIG_INTERVAL, standard, 0, 0, NULL, resume, help)
#define SEED(section, field, standard, resume, help) \
    KEY(section, field, CONFIG_SEED, standard, 0, 0, NULL, resume, help)
#define PATH(section, field, standard, resume, help) \
    KEY(section, field, CONFIG_TEXT, standard, 0, 0, NULL, resume, help)
#define PATHS(section, field, resume, help) \
    KEY(section, field, CONFIG_TEXT, "", 0, CONFIG_MANY_PATHS, NULL, resume, help)

/* The keys of a section stand together; config.ini and --help-config have them in this order. */
static const ConfigKey keys[] = {
    PATHS(data, train_source, FIXED, "training text, one sentence a line, plain or .gz"),
    PATHS(data, train_target, FIXED, "its translation, line by line, in as many files"),
    PATHS(data, train_tsv, FIXED, "instead of both: a pair a line, one tab between source and target"),
    PATHS(data, valid_source, FIXED, "validation text; without one the last weights are kept"),
    PATHS(data, valid_target, FIXED, "its translation"),
    PATHS(data, valid_tsv, FIXED, "instead of both: a pair a line, one tab between source and target"),
    INT(data, max_length, "250", 1, 100000, FIXED, "tokens a side; pairs with a longer one are dropped and counted"),
    REAL(data, max_ratio, "0", 0, 1e6, FIXED, "drop training pairs with more than so many times the tokens on one side; 0: none"),
    BOOL(data, drop_duplicates, "no", FIXED, "drop training pairs with the same tokens as an earlier one"),

    CHOICE(tokenizer, type, "bpe", "bpe|word|char|byte", FIXED, "byte pair encoding, words between spaces, single characters, or bytes"),
    INT(tokenizer, vocab_size, "8000", 261, 1000000, FIXED, "entries wanted (byte: always 261)"),
    CHOICE(tokenizer, normalization, "none", "none|nfc|nfkc", FIXED, "Unicode normalisation; none loses nothing"),
    BOOL(tokenizer, lowercase, "no", FIXED, "lower-case all text"),
    BOOL(tokenizer, shared, "yes", FIXED, "one vocabulary for both languages"),
    INT(tokenizer, min_frequency, "2", 1, 1000000, FIXED, "characters, pairs and words seen less often get no entry"),
    RATE(tokenizer, dropout, "0", FIXED, "BPE-dropout: share of merges left out, anew in each update; only in training"),
    CHOICE(tokenizer, invalid_utf8, "replace", "replace|reject", FIXED,
           "text that is not UTF-8: read what is wrong as U+FFFD, or refuse the file"),

    INT(model, d_model, "256", 2, 65536, FIXED, "width of encoder and decoder (even)"),
    INT(model, encoder_d_model, "auto", 2, 65536, FIXED, "width of the encoder; auto: d_model"),
    INT(model, decoder_d_model, "auto", 2, 65536, FIXED, "width of the decoder; auto: d_model"),
    INT(model, encoder_layers, "4", 1, 1000, FIXED, "layers of the encoder"),
    INT(model, decoder_layers, "4", 1, 1000, FIXED, "layers of the decoder"),
    INT(model, heads, "4", 1, 1024, FIXED, "attention heads"),
    INT(model, d_k, "auto", 1, 65536, FIXED, "size of a query and key, per head; auto: width / heads"),
    INT(model, d_v, "auto", 1, 65536, FIXED, "size of a value, per head; auto: width / heads"),
    INT(model, ffn_dim, "1024", 1, 1000000, FIXED, "inner width of the feed-forward layers"),
    CHOICE(model, norm, "post", "post|pre", FIXED, "layer norm after each branch's sum, or before the branch"),
    CHOICE(model, activation, "relu", "relu|gelu", FIXED, "of the feed-forward layers (gelu: exact erf form)"),
    CHOICE(model, positions, "sinusoidal", "sinusoidal", FIXED, "how places in a sentence are told apart"),
    CHOICE(model, tie_embeddings, "all", "all|decoder|none", FIXED,
           "one matrix for: source, target and output; target and output; nothing"),
    REAL(model, qkv_gain, "1", 0.001, 100, FIXED, "factor on the initial q, k, v weights; fairseq uses 0.7071"),
    RATE(model, dropout, "0.1", FIXED, "rate on embeddings and residual branches"),
    RATE(model, embedding_dropout, "auto", FIXED, "rate on embeddings; auto: dropout"),
    RATE(model, residual_dropout, "auto", FIXED, "rate on residual branches; auto: dropout"),
    RATE(model, attention_dropout, "0", FIXED, "rate on attention weights"),
    RATE(model, activation_dropout, "0", FIXED, "rate inside the feed-forward layers"),
    RATE(model, source_word_dropout, "0", FIXED, "rate at which whole source tokens lose their embedding"),
    RATE(model, target_word_dropout, "0", FIXED, "the same of the target tokens that the decoder reads"),

    INT(train, batch_tokens, "4096", 1, 1e9, FIXED, "target tokens of a batch; an update has `accumulate` batches"),
    INT(train, epochs, "0", 0, 1e9, MAY_CHANGE, "stop after so many passes over the corpus; 0: no limit"),
    INT(train, updates, "0", 0, 1e9, MAY_CHANGE, "stop after so many updates; 0: no limit"),
    REAL(train, minutes, "0", 0, 1e7, MAY_CHANGE, "stop after so many minutes; 0: no limit"),
    REAL(train, lr, "0.0005", 1e-12, 1000, MAY_CHANGE, "learning rate, the highest of the schedule; noam: a factor, 1 in the paper"),
    CHOICE(train, schedule, "inverse_sqrt", "inverse_sqrt|noam|linear|cosine|constant|plateau", FIXED,
           "course of the rate after warmup; linear: to nothing, cosine: to lr_min, at [train] updates"),
    INT(train, warmup, "4000", 0, 1e9, FIXED, "updates in which the rate rises"),
    REAL(train, warmup_start, "0", 0, 1000, FIXED, "the rate from which it rises"),
    REAL(train, lr_min, "0", 0, 1000, FIXED, "cosine and plateau: the lowest rate"),
    REAL(train, plateau_factor, "0.5", 0.001, 0.999, FIXED, "plateau: factor on the rate when validations stall"),
    INT(train, plateau_patience, "3", 1, 1e9, FIXED, "plateau: after so many validations without a new best"),
    RATE(train, label_smoothing, "0.1", FIXED, "share of the target spread over all classes"),
    REAL(train, rdrop, "0", 0, 1000, FIXED, "R-Drop: alpha, as in its paper (5 there), of the divergence of two passes; 0: one pass"),
    REAL(train, clip_norm, "1", 0, 1e9, FIXED, "largest norm of the gradient; 0: any"),
    CHOICE(train, optimizer, "adam", "adam|adamw|sgd", FIXED, "adamw: Adam with weight decay apart from the gradient"),
    RATE(train, adam_beta1, "0.9", FIXED, "decay of Adam's first moment"),
    RATE(train, adam_beta2, "0.98", FIXED, "decay of Adam's second moment"),
    REAL(train, adam_eps, "1e-9", 1e-30, 1, FIXED, "added to the root of Adam's second moment"),
    RATE(train, momentum, "0", FIXED, "of sgd; 0.9 is usual"),
    RATE(train, weight_decay, "0", FIXED, "pull to 0, of matrices and embeddings; adam and sgd: its gradient, adamw: times lr"),
    RATE(train, ema, "0", FIXED, "translate with a moving average of the weights that decays by min(this, (1+u)/(10+u)); 0: off"),
    INT(train, accumulate, "1", 1, 100000, FIXED, "batches whose gradients make one update"),
    SEED(train, seed, "1", FIXED, "of initial weights, order of sentences, and dropout"),
    INT(train, threads, "auto", 1, 4096, MAY_CHANGE, "auto: the physical cores that may be used"),
    INT(train, lanes, "auto", 1, 4096, FIXED, "gradient sums; same lanes, same bits; auto: threads"),
    INT(train, piece_rows, "auto", 1, 1000000, FIXED,
        "target tokens that go through the model together; auto: 512, for widths of 512 and more 320"),
    PATH(train, init_from, "", FIXED, "a run whose tokenizer and weights a new run starts from; empty: from nothing"),
    INT(train, max_bad_updates, "10", 1, 1e9, FIXED, "stop after so many updates in a row that are not finite"),

    EVERY(valid, every, "1 epoch", MAY_CHANGE, "how often to validate"),
    CHOICE(valid, metric, "nll", "nll|exact_match|bleu|chrf", MAY_CHANGE, "what decides which weights are best"),
    INT(valid, patience, "0", 0, 1e9, MAY_CHANGE, "stop after so many validations without a new best; 0: never"),
    INT(valid, samples, "8", 0, 100, MAY_CHANGE, "translations that a validation keeps for the report, spread over the lines"),

    INT(average, last, "0", 0, CONFIG_MOST_SNAPSHOTS, MAY_CHANGE, "average the last so many snapshots at the end of training; 0: none"),
    INT(average, best, "0", 0, CONFIG_MOST_SNAPSHOTS, MAY_CHANGE, "or the best so many, by [valid] metric, taken at validations; 0: none"),
    EVERY(average, every, "1 epoch", MAY_CHANGE, "how often to take a snapshot for `last`"),

    INT(decode, beam_size, "1", 1, 1000, FIXED, "hypotheses kept by the search for a translation; 1: greedy"),
    REAL(decode, length_penalty, "1", 0, 100, FIXED, "the best has the highest log p / length^this; 0: the highest log p"),
    REAL(decode, max_length_factor, "2", 0, 1000, FIXED, "a translation has at most factor * source tokens"),
    INT(decode, max_length_extra, "20", 1, 100000, FIXED, "plus so many"),

    PATH(output, dir, NULL, MAY_CHANGE, "directory of the run"),
    INT(output, log_every, "100", 1, 1e9, MAY_CHANGE, "updates between two lines of the log"),
    EVERY(output, save_every, "1 epoch", MAY_CHANGE, "how often to save the state for a resume"),
    INT(output, log_norms, "100", 0, 1e9, MAY_CHANGE, "updates between norms of all blocks in metrics.jsonl; 0: never"),
    BOOL(output, tensorboard, "no", MAY_CHANGE, "write the curves to tensorboard/ too, for TensorBoard to show"),
    CHOICE(output, on_write_error, "stop", "stop|continue", MAY_CHANGE, "when a file cannot be written: stop, or train on and try again at the next save"),
};
/* clang-format on */

enum { KEYS = sizeof keys / sizeof keys[0] };

const ConfigKey *config_key(int k) { return k < KEYS ? &keys[k] : NULL; }

static void *value_of(const Config *config, const ConfigKey *key) { return (char *)config + key->offset; }

int config_find(const char *section, const char *key) {
    for (int k = 0; k < KEYS; k++)
        if (strcmp(keys[k].section, section) == 0 && strcmp(keys[k].key, key) == 0) return k;
    return -1;
}

static bool is_section(const char *name) {
    for (int k = 0; k < KEYS; k++)
        if (strcmp(keys[k].section, name) == 0) return true;
    return false;
}

/* The key meant by one that does not exist: of this name in another section, or the nearest, first in its own
 * section (section NULL: a section itself is looked for). -1 where nothing is near. */
static int nearest(const char *section, const char *name) {
    int found = -1, best = edit_near(name);
    for (int k = 0; k < KEYS; k++) {
        if (section != NULL && strcmp(keys[k].key, name) == 0) return k;
        bool elsewhere = section != NULL && strcmp(keys[k].section, section) != 0;
        int distance = edit_distance(name, section ? keys[k].key : keys[k].section) + elsewhere;
        if (distance >= best) continue;
        best = distance;
        found = k;
    }
    return found;
}

/* "unknown ...; did you mean ...?" */
static void unknown_section(char fact[CONFIG_MOST_FACT], const char *name) {
    char quoted[80];
    int k = nearest(NULL, name);
    ini_quote(quoted, name, strlen(name));
    if (k >= 0)
        snprintf(fact, CONFIG_MOST_FACT, "unknown section [%s]; did you mean [%s]?", quoted, keys[k].section);
    else
        snprintf(fact, CONFIG_MOST_FACT, "unknown section [%s]; ./train --help-config lists all", quoted);
}

static void unknown_key(char fact[CONFIG_MOST_FACT], const char *section, const char *name) {
    char quoted[80];
    int k = nearest(section, name);
    ini_quote(quoted, name, strlen(name));
    if (k < 0)
        snprintf(fact, CONFIG_MOST_FACT, "unknown key \"%s\" in [%s]; ./train --help-config lists all", quoted,
                 section);
    else if (strcmp(keys[k].section, section) == 0)
        snprintf(fact, CONFIG_MOST_FACT, "unknown key \"%s\" in [%s]; did you mean %s?", quoted, section, keys[k].key);
    else
        snprintf(fact, CONFIG_MOST_FACT, "unknown key \"%s\" in [%s]; did you mean %s in [%s]?", quoted, section,
                 keys[k].key, keys[k].section);
}

/* Sets one key. On failure `fact` says why, and the key, where it exists, is marked as wrong. */
static bool set_value(Config *config, const ConfigSources *sources, const char *section, const char *key,
                      const char *text, int line, char fact[CONFIG_MOST_FACT]) {
    int k = config_find(section, key);
    if (k < 0) {
        unknown_key(fact, section, key);
        return false;
    }
    sources->line[k] = line;
    if (keys[k].standard == NULL && text[0] == '\0')
        snprintf(fact, CONFIG_MOST_FACT, "[%s] %s is empty; it is required", section, key);
    else if (config_value_parse(value_of(config, &keys[k]), &keys[k], text, fact))
        return true;
    sources->wrong[k] = true;
    return false;
}

static void set_defaults(Config *config) {
    char fact[CONFIG_MOST_FACT];
    *config = (Config){0};
    for (int k = 0; k < KEYS; k++) {
        const char *standard = keys[k].standard ? keys[k].standard : "";
        bool ok = config_value_parse(value_of(config, &keys[k]), &keys[k], standard, fact);
        assert(ok); /* else the table is wrong */
        (void)ok;
    }
}

static void read_file(Config *config, const ConfigSources *sources) {
    Ini *ini = sources->ini;
    char fact[CONFIG_MOST_FACT];
    for (int i = 0; i < ini->sections; i++) {
        const IniSection *s = &ini->section[i];
        if (s->name[0] == '\0' || is_section(s->name)) continue;
        unknown_section(fact, s->name);
        ini_mistake(ini, s->line, "%s:%d: %s", ini->name, s->line, fact);
    }
    for (int i = 0; i < ini->entries; i++) {
        const IniEntry *e = &ini->entry[i];
        if (!is_section(e->section)) continue; /* reported once, with the section */
        if (!set_value(config, sources, e->section, e->key, e->value, e->line, fact))
            ini_mistake(ini, e->line, "%s:%d: %s", ini->name, e->line, fact);
    }
}

/* One "section.key=value". */
static void read_override(Config *config, const ConfigSources *sources, const char *text) {
    char fact[CONFIG_MOST_FACT], quoted[80];
    const char *equals = strchr(text, '='), *dot = strchr(text, '.');
    if (equals == NULL || dot == NULL || dot > equals) {
        ini_mistake(sources->ini, CONFIG_FROM_OPTION,
                    "--set %s: is not of the form section.key=value; write --set train.lr=0.001",
                    ini_quote(quoted, text, strlen(text)));
        return;
    }
    char *section = memory_text(text, (size_t)(dot - text));
    char *key = memory_text(dot + 1, (size_t)(equals - dot - 1));
    bool known = is_section(section);
    if (!known) unknown_section(fact, section);
    if (!known || !set_value(config, sources, section, key, equals + 1, CONFIG_FROM_OPTION, fact))
        ini_mistake(sources->ini, CONFIG_FROM_OPTION, "--set %s: %s", ini_quote(quoted, text, (size_t)(equals - text)),
                    fact);
    memory_free(section);
    memory_free(key);
}

static void find_missing(const ConfigSources *sources) {
    for (int k = 0; k < KEYS; k++)
        if (keys[k].standard == NULL && sources->line[k] == 0) {
            ini_mistake(sources->ini, CONFIG_MISSING, "%s: [%s] %s is missing; give it (%s)", sources->ini->name,
                        keys[k].section, keys[k].key, keys[k].help);
            sources->wrong[k] = true;
        }
}

bool config_parse(Config *config, const char *name, const char *text, size_t size, const char *const *overrides,
                  int count, Error *error) {
    Ini ini;
    int line[KEYS] = {0};
    bool wrong[KEYS] = {false};
    ConfigSources sources = {&ini, line, wrong};
    ini_parse(&ini, name, text, size);
    set_defaults(config);
    read_file(config, &sources);
    for (int i = 0; i < count; i++) read_override(config, &sources, overrides[i]);
    find_missing(&sources);
    config_check(config, &sources);
    bool ok = ini_report(&ini, error);
    ini_free(&ini);
    if (!ok) config_free(config);
    return ok;
}

bool config_load(Config *config, const char *path, const char *const *overrides, int count, Error *error) {
    size_t size;
    char *text = file_read(path, INI_MOST_BYTES, &size, error);
    if (text == NULL) return false;
    bool ok = config_parse(config, path, text, size, overrides, count, error);
    memory_free(text);
    return ok;
}

void config_free(Config *config) {
    for (int k = 0; k < KEYS; k++)
        if (keys[k].type == CONFIG_TEXT) memory_free(*(char **)value_of(config, &keys[k]));
    *config = (Config){0};
}
