#include "run/config_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/path_list.h"
#include "run/config_value.h"

/* A mistake that involves `keys`, "section.key section.key ...". Its place is where the first of them that was
 * given stands. Says nothing if one of them has a mistake of its own. */
static void clash(const ConfigSources *sources, const char *keys, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void clash(const ConfigSources *sources, const char *keys, const char *format, ...) {
    char fact[CONFIG_MOST_FACT], option[128] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(fact, sizeof fact, format, args);
    va_end(args);
    int line = 0;
    for (const char *p = keys; *p != '\0';) {
        char section[32], key[64];
        int used = 0;
        if (sscanf(p, "%31[^.].%63[^ ] %n", section, key, &used) != 2) return;
        p += used;
        int k = config_find(section, key);
        if (sources->wrong[k]) return;
        if (line == 0) line = sources->line[k];
        if (line == CONFIG_FROM_OPTION && option[0] == '\0') snprintf(option, sizeof option, "%s.%s", section, key);
    }
    const char *name = sources->ini->name;
    if (line == CONFIG_FROM_OPTION)
        ini_mistake(sources->ini, line, "--set %s: %s", option, fact);
    else if (line == 0)
        ini_mistake(sources->ini, CONFIG_MISSING, "%s: %s", name, fact);
    else
        ini_mistake(sources->ini, line, "%s:%d: %s", name, line, fact);
}

static void check_widths(ConfigModel *m, const ConfigSources *s) {
    if (m->encoder_d_model == 0) m->encoder_d_model = m->d_model;
    if (m->decoder_d_model == 0) m->decoder_d_model = m->d_model;
    int encoder = m->encoder_d_model, decoder = m->decoder_d_model;
    /* The side that was named itself, if it was, else the common width. */
    const char *encoder_key = encoder == m->d_model ? "model.d_model" : "model.encoder_d_model";
    const char *decoder_key = decoder == m->d_model ? "model.d_model" : "model.decoder_d_model";
    if (encoder % 2 != 0)
        clash(s, encoder_key, "the encoder's width %d is odd, but sinusoidal positions are pairs; use %d", encoder,
              encoder + 1);
    if (decoder % 2 != 0 && (encoder % 2 == 0 || decoder != encoder))
        clash(s, decoder_key, "the decoder's width %d is odd, but sinusoidal positions are pairs; use %d", decoder,
              decoder + 1);
    if (m->tie_embeddings == CONFIG_TIE_ALL && encoder != decoder)
        clash(s, "model.tie_embeddings model.encoder_d_model model.decoder_d_model model.d_model",
              "tie_embeddings = all needs equal widths, but the encoder has %d and the decoder %d; use decoder or none",
              encoder, decoder);
}

static void check_heads(ConfigModel *m, const ConfigSources *s) {
    int width = m->decoder_d_model;
    if (m->d_k != 0 && m->d_v != 0) return;
    if (m->encoder_d_model != width) {
        clash(s, "model.encoder_d_model model.decoder_d_model model.d_k model.d_v model.d_model",
              "d_k and d_v = auto need equal widths, but the encoder has %d and the decoder %d; give both",
              m->encoder_d_model, width);
    } else if (width % m->heads != 0) {
        clash(s, "model.heads model.d_model model.d_k model.d_v model.encoder_d_model model.decoder_d_model",
              "%d heads do not divide the width %d; change one of them, or give d_k and d_v", m->heads, width);
    } else {
        if (m->d_k == 0) m->d_k = width / m->heads;
        if (m->d_v == 0) m->d_v = width / m->heads;
    }
}

/* How many paths a key has; -1 and a mistake if the list is wrong. */
static int count_paths(const ConfigSources *s, const char *key, const char *value) {
    PathList list;
    char name[128];
    snprintf(name, sizeof name, "data.%s", key);
    if (!path_list_split(&list, value)) {
        clash(s, name, "%s has an empty path between its commas; write a.en, b.en, or \\, for a comma in a path", key);
        return -1;
    }
    int count = list.count;
    path_list_free(&list);
    return count;
}

/* The text of one purpose, "train" or "valid": two sides, or TSV files, or nothing. Is there one, or a mistake about it? */
static bool check_text(const ConfigSources *s, const char *purpose, const char *source, const char *target,
                       const char *tsv) {
    char key[3][32], keys[128];
    const char *value[3] = {source, target, tsv};
    int count[3];
    for (int i = 0; i < 3; i++) {
        static const char *const part[3] = {"source", "target", "tsv"};
        snprintf(key[i], sizeof key[i], "%s_%s", purpose, part[i]);
        count[i] = count_paths(s, key[i], value[i]);
    }
    snprintf(keys, sizeof keys, "data.%s data.%s data.%s", key[0], key[1], key[2]);
    if (count[0] < 0 || count[1] < 0 || count[2] < 0) return true;
    if (count[2] > 0 && (count[0] > 0 || count[1] > 0))
        clash(s, keys, "%s and %s are both given; give one and leave the other empty", key[2],
              count[0] > 0 ? key[0] : key[1]);
    else if ((count[0] == 0) != (count[1] == 0))
        clash(s, keys, "%s is given without %s; give both or none", key[count[0] == 0], key[count[0] > 0]);
    else if (count[0] != count[1])
        clash(s, keys, "%s has %d paths but %s has %d; give as many, in the same order", key[0], count[0], key[1],
              count[1]);
    return count[0] > 0 || count[1] > 0 || count[2] > 0;
}

/* Is there validation text? */
static bool validates(const ConfigData *d) { return d->valid_source[0] != '\0' || d->valid_tsv[0] != '\0'; }

static void check_data(const Config *c, const ConfigSources *s) {
    const ConfigData *d = &c->data;
    if (!check_text(s, "train", d->train_source, d->train_target, d->train_tsv))
        clash(s, "data.train_source data.train_target data.train_tsv",
              "there is no training text; give [data] train_source and train_target, or train_tsv");
    if (!check_text(s, "valid", d->valid_source, d->valid_target, d->valid_tsv) && c->valid.patience > 0)
        clash(s, "valid.patience data.valid_source data.valid_target data.valid_tsv",
              "patience = %d needs a validation set; give [data] valid_source and valid_target", c->valid.patience);
    if (d->max_ratio > 0 && d->max_ratio < 1)
        clash(s, "data.max_ratio", "max_ratio = %g would drop every pair; give 1 or more, or 0 for any", d->max_ratio);
}

static void check_average(const Config *c, const ConfigSources *s) {
    const ConfigAverage *a = &c->average;
    if (a->last > 0 && a->best > 0)
        clash(s, "average.best average.last", "last = %d and best = %d are both given; set one of them to 0", a->last,
              a->best);
    else if (a->best > 0 && !validates(&c->data))
        clash(s, "average.best data.valid_source data.valid_target data.valid_tsv",
              "best = %d needs a validation set; give [data] valid_source and valid_target, or use last", a->best);
}

/* Wide models fill the processor with fewer rows, and each row of theirs keeps more activations (docs/performance.md). */
static void set_piece_rows(Config *config) {
    int width = config->model.encoder_d_model;
    if (config->model.decoder_d_model > width) width = config->model.decoder_d_model;
    if (config->train.piece_rows == 0) config->train.piece_rows = width < 512 ? 512 : 320;
}

static void check_warmup(const ConfigTrain *t, const char *name, const ConfigSources *s) {
    bool falls_from_warmup = t->schedule == CONFIG_SCHEDULE_INVERSE_SQRT || t->schedule == CONFIG_SCHEDULE_NOAM;
    bool falls_to_updates = t->schedule == CONFIG_SCHEDULE_LINEAR || t->schedule == CONFIG_SCHEDULE_COSINE;
    if (falls_from_warmup && t->warmup == 0)
        clash(s, "train.warmup train.schedule",
              "schedule = %s falls from the end of warmup, but warmup is 0; give 1 or more", name);
    if (falls_to_updates && t->updates <= t->warmup)
        clash(s, "train.updates train.schedule",
              "schedule = %s falls from the end of warmup to the last of [train] updates; give more updates than "
              "warmup",
              name);
    if (t->schedule == CONFIG_SCHEDULE_NOAM && s->line[config_find("train", "lr")] == 0)
        clash(s, "train.schedule",
              "schedule = noam takes [train] lr as a factor, for which there is no default; give 1, as in the paper, "
              "or 2");
    if (t->schedule == CONFIG_SCHEDULE_NOAM && t->warmup_start > 0)
        clash(s, "train.warmup_start train.schedule", "schedule = noam rises from 0; leave out warmup_start");
    else if (t->warmup_start > t->lr)
        clash(s, "train.warmup_start train.lr", "warmup_start = %g is above lr = %g, to which the rate rises; lower it",
              t->warmup_start, t->lr);
}

static void check_lowest_rate(const ConfigTrain *t, const char *name, const ConfigSources *s) {
    bool used = t->schedule == CONFIG_SCHEDULE_COSINE || t->schedule == CONFIG_SCHEDULE_PLATEAU;
    if (t->lr_min > 0 && !used)
        clash(s, "train.lr_min train.schedule", "schedule = %s has no lowest rate; leave out lr_min", name);
    else if (t->lr_min > t->lr)
        clash(s, "train.lr_min train.lr", "lr_min = %g is above lr = %g; lower it", t->lr_min, t->lr);
}

static void check_plateau(const Config *c, const ConfigSources *s) {
    const ConfigTrain *t = &c->train;
    if (!validates(&c->data))
        clash(s, "train.schedule data.valid_source data.valid_target data.valid_tsv",
              "schedule = plateau needs a validation set; give [data] valid_source and valid_target");
    if (c->valid.patience > 0 && c->valid.patience <= t->plateau_patience)
        clash(s, "valid.patience train.plateau_patience train.schedule",
              "with patience = %d training stops before plateau_patience = %d lowers the rate; give a larger patience",
              c->valid.patience, t->plateau_patience);
}

static void check_schedule(const Config *c, const ConfigSources *s) {
    char *name = config_get_text(c, "train.schedule");
    check_warmup(&c->train, name, s);
    check_lowest_rate(&c->train, name, s);
    if (c->train.schedule == CONFIG_SCHEDULE_PLATEAU) check_plateau(c, s);
    memory_free(name);
}

static void check_optimizer(const ConfigTrain *t, const ConfigSources *s) {
    if (t->momentum > 0 && t->optimizer != CONFIG_OPTIMIZER_SGD)
        clash(s, "train.momentum train.optimizer", "momentum is for optimizer = sgd; Adam has adam_beta1 instead");
}

/* Rates that are auto are those of dropout. */
static void set_dropout(ConfigModel *m) {
    if (m->embedding_dropout == CONFIG_AUTO_RATE) m->embedding_dropout = m->dropout;
    if (m->residual_dropout == CONFIG_AUTO_RATE) m->residual_dropout = m->dropout;
}

/* Without dropout the two passes are one and the same. */
static void check_rdrop(const Config *c, const ConfigSources *s) {
    const ConfigModel *m = &c->model;
    bool drops = m->embedding_dropout > 0 || m->residual_dropout > 0 || m->attention_dropout > 0 ||
                 m->activation_dropout > 0 || m->source_word_dropout > 0 || m->target_word_dropout > 0;
    if (c->train.rdrop > 0 && !drops)
        clash(s, "train.rdrop model.dropout",
              "rdrop = %g compares two passes with different dropout, but all rates are 0; give [model] dropout, or "
              "rdrop = 0",
              c->train.rdrop);
}

void config_check(Config *config, const ConfigSources *sources) {
    ConfigModel *m = &config->model;
    const ConfigTrain *t = &config->train;
    check_widths(m, sources);
    check_heads(m, sources);
    set_piece_rows(config);
    set_dropout(m);
    check_data(config, sources);
    check_average(config, sources);
    if (m->tie_embeddings == CONFIG_TIE_ALL && !config->tokenizer.shared)
        clash(sources, "model.tie_embeddings tokenizer.shared",
              "tie_embeddings = all needs one vocabulary, but [tokenizer] shared is no; use decoder or none");
    if (config->tokenizer.dropout > 0 && config->tokenizer.type != TOKENIZER_BPE)
        clash(sources, "tokenizer.dropout tokenizer.type",
              "dropout leaves out merges, and only type = bpe has any; use bpe, or dropout = 0");
    if (t->epochs == 0 && t->updates == 0 && !(t->minutes > 0))
        clash(sources, "train.epochs train.updates train.minutes",
              "training would never end; give [train] epochs, updates or minutes");
    check_schedule(config, sources);
    check_optimizer(t, sources);
    check_rdrop(config, sources);
}
