#include "training/init_from.h"

#include <string.h>

#include "base/memory.h"
#include "run/weights.h"

/* The tensor of the source under this name, or NULL. A tied tensor has several names. */
static const Param *namesake(const ParamTable *source, const Param *p) {
    int i = param_find(source, p->name);
    return i < 0 ? NULL : &source->param[i];
}

static bool fits(const Param *p, const Param *other) {
    return other != NULL && other->rank == p->rank && other->rows == p->rows && other->cols == p->cols;
}

/* Vectors may fit by chance: norms and biases without a single matrix around them are worth nothing. */
static bool any_matrix_fits(const LoadedRun *source, const Config *config) {
    ModelConfig m =
        weights_model_config(config, tokenizer_vocab_size(source->source), tokenizer_vocab_size(source->target));
    ParamTable table = transformer_table(&m);
    bool found = false;
    for (int i = 0; i < table.count; i++)
        found |= table.param[i].rank == 2 && fits(&table.param[i], namesake(&source->table, &table.param[i]));
    param_table_free(&table);
    return found;
}

/* What config_check would say of the source's tokenizers. */
static bool suits(const LoadedRun *source, const Config *config, Error *error) {
    const char *path = config->train.init_from;
    const ConfigTokenizerSection *s = &source->config.tokenizer;
    if (config->model.tie_embeddings == CONFIG_TIE_ALL && !s->shared)
        return error_set(error,
                         "%s: has a vocabulary for each side, but [model] tie_embeddings = all needs one; use decoder "
                         "or none",
                         path);
    if (config->tokenizer.dropout > 0 && s->type != TOKENIZER_BPE)
        return error_set(
            error, "%s: its tokenizer has no merges for [tokenizer] dropout to leave out; give dropout = 0", path);
    return any_matrix_fits(source, config) ||
           error_set(error, "%s: no matrix of it fits the configured model; compare [model] with %s/config.ini", path,
                     path);
}

bool init_from_read(LoadedRun *source, const Config *config, bool fresh, Error *error) {
    *source = (LoadedRun){0};
    if (config->train.init_from[0] == '\0') return true;
    if (!fresh && run_directory_would_resume(config->output.dir)) return true;
    if (!loaded_run_open(source, config->train.init_from, error)) return false;
    if (suits(source, config, error)) return true;
    loaded_run_close(source);
    return false;
}

/* One line for each of the keys whose values differ. */
static void say_differences(Trainer *t, const Config *source, const char *const *keys, int count, const char *what) {
    for (int i = 0; i < count; i++) {
        char *asked = config_get_text(&t->config, keys[i]), *theirs = config_get_text(source, keys[i]);
        if (strcmp(asked, theirs) != 0)
            log_line(&t->log, "init_from  %s = %s, but %s %s %s", keys[i], asked, t->config.train.init_from, what,
                     theirs);
        memory_free(asked);
        memory_free(theirs);
    }
}

void init_from_adopt_keys(Trainer *t, const Config *source) {
    static const char *const keys[] = {"tokenizer.type",      "tokenizer.vocab_size", "tokenizer.normalization",
                                       "tokenizer.lowercase", "tokenizer.shared",     "tokenizer.min_frequency"};
    say_differences(t, source, keys, sizeof keys / sizeof keys[0], "has its tokenizer already, with");
    ConfigTokenizerSection own = t->config.tokenizer;
    t->config.tokenizer = source->tokenizer;
    t->config.tokenizer.dropout = own.dropout;
    t->config.tokenizer.invalid_utf8 = own.invalid_utf8;
}

static bool save(const Trainer *t, RunFile file, const Tokenizer *tokenizer, Error *error) {
    char *path = run_path(t->run.path, file);
    bool good = tokenizer_save(tokenizer, path, error);
    memory_free(path);
    return good;
}

bool init_from_take_tokenizers(Trainer *t, LoadedRun *source, Error *error) {
    t->source = source->source;
    t->target = source->target;
    source->source = source->target = NULL;
    if (t->source == t->target) return save(t, RUN_TOKENIZER, t->source, error);
    return save(t, RUN_TOKENIZER_SOURCE, t->source, error) && save(t, RUN_TOKENIZER_TARGET, t->target, error);
}

static const char *shape_text(char out[32], const Param *p) {
    if (p->rank == 2)
        snprintf(out, 32, "[%d,%d]", p->rows, p->cols);
    else
        snprintf(out, 32, "[%d]", p->cols);
    return out;
}

static void say_fresh(Trainer *t, const Param *p, const Param *other) {
    char shape[32], other_shape[32];
    if (other == NULL)
        log_line(&t->log, "init_from  %s %s starts fresh: %s has none", p->name, shape_text(shape, p),
                 t->config.train.init_from);
    else
        log_line(&t->log, "init_from  %s %s starts fresh: that of %s is %s", p->name, shape_text(shape, p),
                 t->config.train.init_from, shape_text(other_shape, other));
}

/* Their tensors fit, and yet were trained to do something else. */
static void say_other_model(Trainer *t, const Config *source) {
    static const char *const keys[] = {"model.norm", "model.activation", "model.positions", "model.heads"};
    say_differences(t, source, keys, sizeof keys / sizeof keys[0], "was trained with");
}

void init_from_copy_weights(Trainer *t, const LoadedRun *source) {
    const ParamTable *theirs = &source->table;
    bool *known = memory_alloc((size_t)theirs->count, sizeof *known, "names of tensors");
    char shape[32];
    int copied = 0;
    say_other_model(t, &source->config);
    for (int i = 0; i < t->table.count; i++) {
        const Param *p = &t->table.param[i], *other = namesake(theirs, p);
        if (other != NULL) known[other - theirs->param] = true;
        if (fits(p, other)) {
            memcpy(t->slab + p->offset, source->slab + other->offset, param_size(p) * sizeof(real));
            copied++;
        } else {
            say_fresh(t, p, other);
        }
    }
    if (t->served != t->slab) memcpy(t->served, t->slab, t->table.total * sizeof(real));
    for (int i = 0; i < theirs->count; i++)
        if (!known[i])
            log_line(&t->log, "init_from  %s %s of %s is left out: the model has none", theirs->param[i].name,
                     shape_text(shape, &theirs->param[i]), t->config.train.init_from);
    log_line(&t->log, "init_from  %s: %d of the model's %d tensors start from it", t->config.train.init_from, copied,
             t->table.count);
    memory_free(known);
}
