/* The whole model that ./gradcheck looks at: of no file, of a configuration, or of a run with its trained weights; with a
 * few sentence pairs to go through it. */
#ifndef STUDY_CHECKED_MODEL_H
#define STUDY_CHECKED_MODEL_H

#include "base/error.h"
#include "base/options.h"
#include "data/corpus.h"
#include "study/model_check.h"

typedef struct ModelRequest {
    const char *path;            /* a configuration or the directory of a run; NULL: a small model of our own */
    OptionList set;              /* overrides of the configuration's keys */
    bool reduce;                 /* lower the configured sizes, see model_reduce */
    const char *source, *target; /* a sentence pair for a run; NULL: of its validation corpus, or made-up ids */
} ModelRequest;

enum { CHECKED_SENTENCES = 3 };

typedef struct CheckedModel {
    char weights[160], text[400];   /* what they are, in words */
    ModelConfig config, configured; /* after and before the reduction */
    bool reduced;
    ParamTable table;
    real *parameters, *gradients; /* [table.total] */
    Transformer p, dp;
    TransformerPositions positions;
    Corpus corpus;
    Batch batch;
    DropoutDraw draw; /* the masks of update 1 */
    Arena ids, arena;
    ModelCheck check; /* of all of these */
} CheckedModel;

/* Free with checked_model_close. On failure there is nothing to free. */
bool checked_model_open(CheckedModel *m, const ModelRequest *request, Error *error);
void checked_model_close(CheckedModel *m);

/* The same structure at sizes that are checked in seconds: at most two layers and heads, widths of about 8, 23 pieces. What
 * is equal stays equal, what is larger stays larger. */
ModelConfig model_reduce(const ModelConfig *config);

#endif
