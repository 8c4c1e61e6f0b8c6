/* A finished run, read back: all that translating, evaluating and inspecting need. */
#ifndef RUN_LOADED_RUN_H
#define RUN_LOADED_RUN_H

#include "model/transformer.h"
#include "run/config.h"
#include "tokenizer/tokenizer.h"

typedef struct LoadedRun {
    Config config;
    Tokenizer *source, *target; /* one and the same where the vocabulary is shared */
    ParamTable table;
    real *slab;
    Transformer model;
    TransformerPositions positions;
} LoadedRun;

/* Reads config.ini, the tokenizers and model.safetensors. On failure there is nothing to free. */
bool loaded_run_open(LoadedRun *run, const char *directory, Error *error);
void loaded_run_close(LoadedRun *run);

#endif
