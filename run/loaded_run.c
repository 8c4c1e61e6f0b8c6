#include "run/loaded_run.h"

#include "base/file.h"
#include "base/memory.h"
#include "run/run_directory.h"
#include "run/weights.h"

static Tokenizer *load_tokenizer(const char *directory, RunFile file, Error *error) {
    char *path = run_path(directory, file);
    Tokenizer *tokenizer = tokenizer_load(path, error);
    memory_free(path);
    return tokenizer;
}

static bool load_config(LoadedRun *run, const char *directory, Error *error) {
    char *path = run_path(directory, RUN_CONFIG);
    bool good = config_load(&run->config, path, NULL, 0, error);
    memory_free(path);
    return good;
}

static bool load_weights(LoadedRun *run, const char *directory, Error *error) {
    char *path = run_path(directory, RUN_MODEL);
    ModelConfig c =
        weights_model_config(&run->config, tokenizer_vocab_size(run->source), tokenizer_vocab_size(run->target));
    run->table = transformer_table(&c);
    run->slab = memory_alloc(run->table.total, sizeof(real), "weights");
    transformer_init(&run->model, &c, run->slab);
    transformer_positions_init(&run->positions, &c);
    bool good = weights_load(run->slab, &run->table, path, weights_vocabulary(run->source, run->target), error);
    char *state = run_path(directory, RUN_STATE);
    if (!good && file_exists(state))
        error_add(error, "%s: if it is damaged, ./train with the configuration of this run writes it again", path);
    memory_free(state);
    memory_free(path);
    return good;
}

bool loaded_run_open(LoadedRun *run, const char *directory, Error *error) {
    *run = (LoadedRun){0};
    if (!run_directory_check(directory, error) || !load_config(run, directory, error)) return false;
    bool shared = run->config.tokenizer.shared;
    run->source = load_tokenizer(directory, shared ? RUN_TOKENIZER : RUN_TOKENIZER_SOURCE, error);
    if (run->source != NULL)
        run->target = shared ? run->source : load_tokenizer(directory, RUN_TOKENIZER_TARGET, error);
    if (run->target == NULL || !load_weights(run, directory, error)) {
        loaded_run_close(run);
        return false;
    }
    return true;
}

void loaded_run_close(LoadedRun *run) {
    if (run->target != run->source) tokenizer_free(run->target);
    tokenizer_free(run->source);
    config_free(&run->config);
    if (run->slab != NULL) {
        transformer_free(&run->model);
        transformer_positions_free(&run->positions);
    }
    param_table_free(&run->table);
    memory_free(run->slab);
    *run = (LoadedRun){0};
}
