#include "run/config_check.h"

#include <stdarg.h>
#include <stdio.h>

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

static void check_validation(const Config *c, const ConfigSources *s) {
    bool source = c->data.valid_source[0] != '\0', target = c->data.valid_target[0] != '\0';
    const char *both = "data.valid_source data.valid_target";
    if (source && !target) clash(s, both, "valid_source is given without valid_target; give both or none");
    if (target && !source) clash(s, both, "valid_target is given without valid_source; give both or none");
    if (c->valid.patience > 0 && !source && !target)
        clash(s, "valid.patience data.valid_source data.valid_target",
              "patience = %d needs a validation set; give [data] valid_source and valid_target", c->valid.patience);
}

void config_check(Config *config, const ConfigSources *sources) {
    ConfigModel *m = &config->model;
    const ConfigTrain *t = &config->train;
    check_widths(m, sources);
    check_heads(m, sources);
    check_validation(config, sources);
    if (m->tie_embeddings == CONFIG_TIE_ALL && !config->tokenizer.shared)
        clash(sources, "model.tie_embeddings tokenizer.shared",
              "tie_embeddings = all needs one vocabulary, but [tokenizer] shared is no; use decoder or none");
    if (config->tokenizer.dropout > 0 && config->tokenizer.type != TOKENIZER_BPE)
        clash(sources, "tokenizer.dropout tokenizer.type",
              "dropout leaves out merges, and only type = bpe has any; use bpe, or dropout = 0");
    if (t->epochs == 0 && t->updates == 0 && !(t->minutes > 0))
        clash(sources, "train.epochs train.updates train.minutes",
              "training would never end; give [train] epochs, updates or minutes");
    if (t->schedule == CONFIG_SCHEDULE_INVERSE_SQRT && t->warmup == 0)
        clash(sources, "train.warmup train.schedule",
              "schedule = inverse_sqrt falls from the end of warmup, but warmup is 0; give 1 or more");
    if (t->schedule == CONFIG_SCHEDULE_LINEAR && t->updates <= t->warmup)
        clash(sources, "train.updates train.schedule",
              "schedule = linear falls from the end of warmup to the last of [train] updates; give more updates than "
              "warmup");
    if (m->embedding_dropout == CONFIG_AUTO_RATE) m->embedding_dropout = m->dropout;
    if (m->residual_dropout == CONFIG_AUTO_RATE) m->residual_dropout = m->dropout;
}
