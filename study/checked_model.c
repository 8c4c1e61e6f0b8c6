#include "study/checked_model.h"

#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/rng.h"
#include "run/loaded_run.h"
#include "run/weights.h"

/* Everything that shares a matrix does; d_k differs from d_v, and n from m, so that no exchange of the two goes unnoticed. */
static const ModelConfig OWN = {.source_vocab = 23,
                                .target_vocab = 23,
                                .encoder_width = 8,
                                .decoder_width = 8,
                                .encoder_layers = 2,
                                .decoder_layers = 2,
                                .heads = 2,
                                .d_k = 3,
                                .d_v = 5,
                                .ffn_dim = 10,
                                .norm = NORM_PRE,
                                .activation = ACTIVATION_RELU,
                                .tie = TIE_ALL,
                                .qkv_gain = 1,
                                .dropout = {.embedding = 0.1, .residual = 0.1, .attention = 0.1, .activation = 0.1}};
static const double OWN_SMOOTHING = 0.1;

static int at_most(int size, int most) { return size < most ? size : most; }

/* Two sizes in a known relation. */
static void reduce_pair(int *a, int *b, int equal, int smaller, int larger) {
    int x = *a, y = *b;
    *a = at_most(x, x == y ? equal : x < y ? smaller : larger);
    *b = at_most(y, x == y ? equal : y < x ? smaller : larger);
}

ModelConfig model_reduce(const ModelConfig *config) {
    ModelConfig c = *config;
    reduce_pair(&c.encoder_width, &c.decoder_width, 8, 6, 8);
    reduce_pair(&c.encoder_layers, &c.decoder_layers, 2, 1, 2);
    reduce_pair(&c.d_k, &c.d_v, 3, 3, 5);
    reduce_pair(&c.source_vocab, &c.target_vocab, 23, 19, 23);
    c.heads = at_most(c.heads, 2);
    c.ffn_dim = at_most(c.ffn_dim, 10);
    return c;
}

/* Biases start at 0 and norms at 1, which would hide what is multiplied by them. */
static void initial_weights(CheckedModel *m, uint64_t seed) {
    param_init(m->parameters, &m->table, seed);
    Rng rng = {hash64(seed)};
    for (int i = 0; i < m->table.count; i++) {
        const Param *p = &m->table.param[i];
        bool vector = p->role == PARAM_BIAS || p->role == PARAM_NORM_WEIGHT || p->role == PARAM_NORM_BIAS;
        for (size_t j = 0; vector && j < param_size(p); j++)
            m->parameters[p->offset + j] += (real)(0.2 * rng_normal(&rng));
    }
}

static void allocate(CheckedModel *m) {
    m->table = transformer_table(&m->config);
    m->parameters = memory_alloc(m->table.total, sizeof(real), "weights");
    m->gradients = memory_alloc(m->table.total, sizeof(real), "gradient");
    transformer_init(&m->p, &m->config, m->parameters);
    transformer_init(&m->dp, &m->config, m->gradients);
    transformer_positions_init(&m->positions, &m->config);
}

/* Any ids behind the special ones. The target of the last pair is </s> alone. */
static void made_up_side(CorpusSide *side, const int *lengths, int vocab, Rng *rng) {
    side->offset = memory_alloc(CHECKED_SENTENCES + 1, sizeof *side->offset, "made-up sentences");
    for (int i = 0; i < CHECKED_SENTENCES; i++) {
        for (int n = 0; n < lengths[i]; n++)
            id_list_push(&side->ids, ID_FIRST_BYTE + (int)rng_below(rng, (uint64_t)(vocab - ID_FIRST_BYTE)));
        side->offset[i + 1] = (int64_t)side->ids.count;
    }
}

static void made_up_text(CheckedModel *m) {
    static const int source[] = {3, 0, 6}, target[] = {4, 5, 0};
    Rng rng = {hash64(1)};
    m->corpus = (Corpus){.pairs = CHECKED_SENTENCES, .lines = CHECKED_SENTENCES};
    m->corpus.line = memory_alloc(CHECKED_SENTENCES, sizeof *m->corpus.line, "made-up sentences");
    for (int i = 0; i < CHECKED_SENTENCES; i++) m->corpus.line[i] = i;
    made_up_side(&m->corpus.source, source, m->config.source_vocab, &rng);
    made_up_side(&m->corpus.target, target, m->config.target_vocab, &rng);
    snprintf(m->text, sizeof m->text, "%d pairs of made-up ids", CHECKED_SENTENCES);
}

static void lines_of(Lines *lines, const char *text) {
    lines_split(lines, memory_text(text, strlen(text)), strlen(text));
}

static bool given_text(CheckedModel *m, const LoadedRun *run, const ModelRequest *r, Error *error) {
    ParallelText text = {0};
    lines_of(&text.source, r->source);
    lines_of(&text.target, r->target);
    bool good = text.source.count == 1 && text.target.count == 1;
    if (good)
        corpus_encode(&m->corpus, &text, run->source, run->target);
    else
        error_set(error, "--source and --target: give one line of text each");
    lines_free(&text.source);
    lines_free(&text.target);
    snprintf(m->text, sizeof m->text, "the given pair");
    return good;
}

/* False where there is no validation corpus that can be read. */
static bool validation_text(CheckedModel *m, const LoadedRun *run) {
    const ConfigData *d = &run->config.data;
    ParallelText text;
    Error unread;
    bool tsv = d->valid_tsv[0] != '\0';
    if (!tsv && d->valid_source[0] == '\0') return false;
    if (tsv ? !parallel_text_read_tsv(&text, d->valid_tsv, &unread)
            : !parallel_text_read(&text, d->valid_source, d->valid_target, &unread))
        return false;
    corpus_encode(&m->corpus, &text, run->source, run->target);
    corpus_filter(&m->corpus, &text, &(CorpusFilter){.max_length = 60});
    snprintf(m->text, sizeof m->text, "the first lines of %s", tsv ? d->valid_tsv : d->valid_source);
    parallel_text_free(&text);
    if (m->corpus.pairs == 0) corpus_free(&m->corpus);
    return m->corpus.pairs > 0;
}

static bool run_text(CheckedModel *m, const LoadedRun *run, const ModelRequest *r, Error *error) {
    if (r->source != NULL) return given_text(m, run, r, error);
    if (!validation_text(m, run)) made_up_text(m);
    return true;
}

static void set_objective(CheckedModel *m, const ConfigTrain *config) {
    m->check.smoothing = config->label_smoothing;
    m->check.rdrop = config->rdrop;
}

static bool open_run(CheckedModel *m, const ModelRequest *r, Error *error) {
    if (r->reduce || r->set.count > 0)
        return error_set(
            error,
            "%s: trained weights have their sizes; give --reduce and --set with a configuration, such as %s/config.ini",
            r->path, r->path);
    LoadedRun run;
    if (!loaded_run_open(&run, r->path, error)) return false;
    m->config = m->configured = run.model.config;
    set_objective(m, &run.config.train);
    bool good = run_text(m, &run, r, error);
    if (good) {
        allocate(m);
        memcpy(m->parameters, run.slab, m->table.total * sizeof(real));
        snprintf(m->weights, sizeof m->weights, "trained weights of %.120s", r->path);
    }
    loaded_run_close(&run);
    return good;
}

static bool open_config(CheckedModel *m, const ModelRequest *r, Error *error) {
    if (r->source != NULL)
        return error_set(error, "--source: text needs the tokenizer of a run; give the directory of one");
    m->configured = OWN;
    m->check.smoothing = OWN_SMOOTHING;
    uint64_t seed = 1;
    if (r->path != NULL) {
        Config config;
        if (!config_load(&config, r->path, r->set.text, r->set.count, error)) return false;
        int vocab = config.tokenizer.vocab_size;
        m->configured = weights_model_config(&config, vocab, vocab);
        set_objective(m, &config.train);
        seed = config.train.seed;
        config_free(&config);
    } else if (r->set.count > 0) {
        return error_set(error, "--set: there is no configuration to override; give a file");
    }
    m->config = r->reduce ? model_reduce(&m->configured) : m->configured;
    made_up_text(m);
    allocate(m);
    initial_weights(m, seed);
    snprintf(m->weights, sizeof m->weights, "initial weights, with biases and norms stirred");
    return true;
}

static bool is_directory(const char *path) {
    struct stat s;
    return path != NULL && stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool checked_model_open(CheckedModel *m, const ModelRequest *r, Error *error) {
    *m = (CheckedModel){.draw = {.seed = 1, .update = 1}, .reduced = r->reduce};
    if ((r->source == NULL) != (r->target == NULL))
        return error_set(error, "--%s: a pair has two sides; give --%s too", r->source ? "source" : "target",
                         r->source ? "target" : "source");
    bool good = is_directory(r->path) ? open_run(m, r, error) : open_config(m, r, error);
    if (!good) return false;
    arena_init(&m->ids, "sentences");
    arena_init(&m->arena, "activations (give --reduce, or shorter sentences)");
    static const int first[CHECKED_SENTENCES] = {0, 1, 2};
    m->batch = corpus_batch(&m->corpus, first, at_most(m->corpus.pairs, CHECKED_SENTENCES), &m->ids);
    m->check = (ModelCheck){.table = &m->table,
                            .parameters = m->parameters,
                            .gradients = m->gradients,
                            .p = &m->p,
                            .dp = &m->dp,
                            .positions = &m->positions,
                            .batch = &m->batch,
                            .smoothing = m->check.smoothing,
                            .rdrop = m->check.rdrop,
                            .draw = &m->draw,
                            .arena = &m->arena};
    return true;
}

void checked_model_close(CheckedModel *m) {
    corpus_free(&m->corpus);
    transformer_free(&m->p);
    transformer_free(&m->dp);
    transformer_positions_free(&m->positions);
    memory_free(m->parameters);
    memory_free(m->gradients);
    param_table_free(&m->table);
    arena_free(&m->ids);
    arena_free(&m->arena);
    *m = (CheckedModel){0};
}
