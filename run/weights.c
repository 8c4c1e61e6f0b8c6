#include "run/weights.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

ModelConfig weights_model_config(const Config *config, int source_vocab, int target_vocab) {
    const ConfigModel *m = &config->model;
    return (ModelConfig){
        .source_vocab = source_vocab,
        .target_vocab = target_vocab,
        .encoder_width = m->encoder_d_model,
        .decoder_width = m->decoder_d_model,
        .encoder_layers = m->encoder_layers,
        .decoder_layers = m->decoder_layers,
        .heads = m->heads,
        .d_k = m->d_k,
        .d_v = m->d_v,
        .ffn_dim = m->ffn_dim,
        .norm = m->norm == CONFIG_NORM_PRE ? NORM_PRE : NORM_POST,
        .activation = m->activation == CONFIG_ACTIVATION_GELU ? ACTIVATION_GELU : ACTIVATION_RELU,
        .tie = m->tie_embeddings == CONFIG_TIE_ALL       ? TIE_ALL
               : m->tie_embeddings == CONFIG_TIE_DECODER ? TIE_DECODER
                                                         : TIE_NONE,
        .qkv_gain = m->qkv_gain,
        .dropout = {.embedding = m->embedding_dropout,
                    .residual = m->residual_dropout,
                    .attention = m->attention_dropout,
                    .activation = m->activation_dropout,
                    .source_word = m->source_word_dropout,
                    .target_word = m->target_word_dropout},
    };
}

uint64_t weights_vocabulary(const Tokenizer *source, const Tokenizer *target) {
    return hash_fold(tokenizer_hash(source), tokenizer_hash(target));
}

static SafetensorsTensor describe(const Param *p, const float *data) {
    SafetensorsTensor t = {.name = p->name, .type = SAFETENSORS_F32, .rank = p->rank, .data = data};
    t.shape[0] = p->rank == 2 ? p->rows : p->cols;
    t.shape[1] = p->cols;
    return t;
}

bool weights_save(const char *path, const real *slab, const ParamTable *table, uint64_t vocabulary, Error *error) {
    float *values = memory_alloc(table->total, sizeof *values, "weights to save");
    for (size_t i = 0; i < table->total; i++) values[i] = (float)slab[i];
    SafetensorsTensor *tensor = memory_alloc((size_t)table->count, sizeof *tensor, "tensors to save");
    for (int i = 0; i < table->count; i++) tensor[i] = describe(&table->param[i], values + table->param[i].offset);
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, vocabulary);
    SafetensorsPair pair = {"tandem.vocabulary", hash};
    bool good = safetensors_write(path, tensor, table->count, &pair, 1, error);
    memory_free(tensor);
    memory_free(values);
    return good;
}

static bool same_vocabulary(const Safetensors *file, uint64_t vocabulary, Error *error) {
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, vocabulary);
    const char *saved = safetensors_metadata(file, "tandem.vocabulary");
    if (saved == NULL || strcmp(saved, hash) == 0) return true;
    return error_set(error,
                     "%s: was trained with vocabulary %s but the tokenizer beside it is %s; put the two that "
                     "belong together into one directory",
                     file->path, saved, hash);
}

bool weights_load(real *slab, const ParamTable *table, const char *path, uint64_t vocabulary, Error *error) {
    Safetensors file;
    if (!safetensors_read(&file, path, error)) return false;
    bool good = same_vocabulary(&file, vocabulary, error);
    for (int i = 0; good && i < table->count; i++) {
        const Param *p = &table->param[i];
        SafetensorsTensor t = describe(p, NULL);
        good = safetensors_copy(slab + p->offset, &file, p->name, t.rank, t.shape, error);
    }
    if (good && file.tensors != table->count)
        good = error_set(error, "%s: has %d tensors, the configured model %d; the file belongs to another model", path,
                         file.tensors, table->count);
    safetensors_free(&file);
    return good;
}
