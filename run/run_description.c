/* config.json: the model in the words of Hugging Face's Marian and Pegasus configurations. */
#include <jansson.h>

#include "base/batch.h"
#include "base/file.h"
#include "base/memory.h"
#include "run/json_text.h"
#include "run/run_directory.h"

static void describe_class(json_t *d, const ConfigModel *m) {
    bool post = m->norm == CONFIG_NORM_POST;
    json_t *architectures = json_array();
    json_array_append_new(architectures, json_string(post ? "MarianMTModel" : "PegasusForConditionalGeneration"));
    json_object_set_new(d, "architectures", architectures);
    json_set_text(d, "model_type", post ? "marian" : "pegasus");
    json_set_bool(d, "is_encoder_decoder", true);
    json_set_text(d, "torch_dtype", "float32");
}

static void describe_sizes(json_t *d, const Config *config, int source_vocabulary, int target_vocabulary) {
    const ConfigModel *m = &config->model;
    json_set_integer(d, "vocab_size", source_vocabulary);
    json_set_integer(d, "decoder_vocab_size", target_vocabulary);
    json_set_integer(d, "d_model", m->decoder_d_model);
    json_set_integer(d, "encoder_layers", m->encoder_layers);
    json_set_integer(d, "decoder_layers", m->decoder_layers);
    json_set_integer(d, "num_hidden_layers", m->encoder_layers);
    json_set_integer(d, "encoder_attention_heads", m->heads);
    json_set_integer(d, "decoder_attention_heads", m->heads);
    json_set_integer(d, "encoder_ffn_dim", m->ffn_dim);
    json_set_integer(d, "decoder_ffn_dim", m->ffn_dim);
    /* Positions are computed, so this is only how long a sentence the other library prepares for. */
    int longest = config->data.max_length + 2;
    json_set_integer(d, "max_position_embeddings", longest > 1024 ? longest : 1024);
}

static void describe_behaviour(json_t *d, const ConfigModel *m) {
    json_set_text(d, "activation_function", m->activation == CONFIG_ACTIVATION_RELU ? "relu" : "gelu");
    json_set_bool(d, "scale_embedding", true);
    json_set_bool(d, "static_position_embeddings", true);
    json_set_bool(d, "tie_word_embeddings", m->tie_embeddings != CONFIG_TIE_NONE);
    json_set_bool(d, "share_encoder_decoder_embeddings", m->tie_embeddings == CONFIG_TIE_ALL);
    json_set_bool(d, "normalize_before", m->norm == CONFIG_NORM_PRE);
    json_set_bool(d, "normalize_embedding", false);
    json_set_bool(d, "add_final_layer_norm", m->norm == CONFIG_NORM_PRE);
    json_set_real(d, "dropout", m->residual_dropout);
    json_set_real(d, "attention_dropout", m->attention_dropout);
    json_set_real(d, "activation_dropout", m->activation_dropout);
    json_set_integer(d, "bos_token_id", ID_BOS);
    json_set_integer(d, "pad_token_id", ID_PAD);
    json_set_integer(d, "eos_token_id", ID_EOS);
    json_set_integer(d, "forced_eos_token_id", ID_EOS);
    json_set_integer(d, "decoder_start_token_id", ID_BOS);
    json_set_bool(d, "use_cache", true);
}

/* What neither class can say; without it they would build a model of other shapes. */
static void describe_sizes_of_ours(json_t *d, const ConfigModel *m) {
    int width = m->decoder_d_model;
    bool usual = m->encoder_d_model == width && m->d_k * m->heads == width && m->d_v * m->heads == width;
    if (usual) return;
    json_t *ours = json_object();
    json_set_integer(ours, "encoder_d_model", m->encoder_d_model);
    json_set_integer(ours, "decoder_d_model", m->decoder_d_model);
    json_set_integer(ours, "heads", m->heads);
    json_set_integer(ours, "d_k", m->d_k);
    json_set_integer(ours, "d_v", m->d_v);
    json_object_set_new(d, "tandem", ours);
}

bool run_directory_describe(const RunDirectory *run, const Config *config, int source_vocabulary, int target_vocabulary,
                            Error *error) {
    json_t *d = json_object();
    describe_class(d, &config->model);
    describe_sizes(d, config, source_vocabulary, target_vocabulary);
    describe_behaviour(d, &config->model);
    describe_sizes_of_ours(d, &config->model);
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(6), length = json_dumpb(d, NULL, 0, flags);
    char *text = memory_alloc(length + 1, 1, "config.json");
    json_dumpb(d, text, length, flags);
    text[length++] = '\n';
    char *path = run_path(run->path, RUN_DESCRIPTION);
    bool ok = file_write(path, text, length, error);
    memory_free(path);
    memory_free(text);
    json_decref(d);
    return ok;
}
