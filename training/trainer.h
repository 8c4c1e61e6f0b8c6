/* Training of one run, from its configuration to the last saved state.
 *
 * The path of a gradient, from the top: trainer_step draws an update and calls lanes_gradient, which calls
 * transformer_gradient for each piece; lanes_sum adds the lanes; optimizer_update changes the parameters.
 *
 * Functions of a Trainer are called trainer_...; each file of them has a header of its own: training/validate.h,
 * average.h, conclude.h, state.h, model_files.h, bad_update.h, report.h. Here are the struct, its making and end
 * (training/setup.c), and the loop of updates (training/trainer.c). */
#ifndef TRAINING_TRAINER_H
#define TRAINING_TRAINER_H

#include "data/batches.h"
#include "data/places.h"
#include "decoding/translator.h"
#include "run/run_directory.h"
#include "training/lanes.h"
#include "training/log.h"
#include "training/metrics.h"
#include "training/norms.h"
#include "training/optimizer.h"
#include "training/owed.h"
#include "training/snapshots.h"
#include "training/tensorboard.h"

/* Sums since the last logged line. */
typedef struct TrainWindow {
    LossSums loss;
    int64_t source_tokens;
    double seconds;
} TrainWindow;

/* All that has happened so far, other than tensors: saved with them, so that a resume goes on exactly. */
typedef struct TrainState {
    int64_t update;        /* taken, skipped ones included */
    double seconds;        /* of training, over all resumes */
    double best, best_nll; /* by the validation metric (NaN: by another measure); no meaning while best_update is 0 */
    int64_t best_update;
    int stalled;       /* scheduled validations since then */
    int64_t validated; /* update of the last scheduled validation, 0 before the first */
    int64_t concluded; /* update after which training ended and everything was done that is done then; else 0 */
    SnapshotList snapshots;
    int reductions; /* of the learning rate, by [train] schedule = plateau */
    TrainWindow window;
    int bad_in_a_row; /* updates skipped because something was not finite; not saved */
} TrainState;

/* What model.safetensors holds, since a validation found it best. Saved with the state, and apart from TrainState because
 * concluding, which may find a better one, leaves that as it was. */
typedef struct ModelOrigin {
    int64_t update;    /* 0: nothing was validated yet */
    double value, nll; /* the validation metric's (NaN: another measure's), and without label smoothing */
    int snapshots;     /* of which it is the average; 0: of none */
} ModelOrigin;

typedef struct Trainer {
    Config config;

    /* Files of the run. */
    RunDirectory run;
    Log log;
    Metrics metrics;
    EventFile events; /* for TensorBoard */
    Owed owed;
    bool report_named; /* has it been said where the report is? */

    /* Text. */
    Tokenizer *source, *target; /* one and the same where the vocabulary is shared */
    Corpus train, valid;        /* valid.pairs is 0 without validation data */
    CorpusPlaces places;        /* of the training text */
    ParallelText train_text;    /* kept only for BPE-dropout */
    EncodingDropout dropout;    /* of the tokenizer; its rate is 0 where there is none */
    ParallelText valid_text;

    /* Model. */
    ParamTable table;
    real *slab; /* [table.total] parameters */
    Transformer model;
    /* What is validated, saved as the model, and translates: their moving average, or, where [train] ema = 0, the same. */
    real *served; /* [table.total] */
    Transformer served_model;
    TransformerPositions positions;

    /* What changes it. */
    Batcher batcher;
    Arena ids; /* of the current update */
    Lanes lanes;
    Optimizer optimizer;
    Norms norms;

    /* How far it has come. */
    TrainState state;
    ModelOrigin origin;           /* of model.safetensors */
    SnapshotList saved_snapshots; /* what the last state on disk says, for the pruning of snapshots */
    int64_t saved_update;
} Trainer;

/* ---- training/setup.c ---- */

/* Everything up to the first update: run directory, corpora, tokenizer (learned, or loaded from the run), model, and the
 * saved state where there is one. Prints the plan. On failure there is nothing to free.
 * config is taken over. fresh: move an old run aside. */
bool trainer_open(Trainer *t, Config *config, bool fresh, Error *error);
void trainer_close(Trainer *t);

/* Parts of trainer_open that need no run directory. The first replaces `auto` by what it stands for on this machine. */
void trainer_plan_threads(ConfigTrain *config);

/* Parameters, gradients, optimizer and batches for t->config, t->train and the sizes of the vocabularies. */
void trainer_make_model(Trainer *t, int source_vocab, int target_vocab);

/* With BPE-dropout the training text is needed as long as training goes on: takes it over then. Else does nothing. */
void trainer_keep_text(Trainer *t, ParallelText *text);

/* ---- training/trainer.c ---- */

typedef enum TrainEnd {
    TRAIN_GOES_ON,
    TRAIN_EPOCHS,
    TRAIN_UPDATES,
    TRAIN_MINUTES,
    TRAIN_PATIENCE,
    TRAIN_SIGNAL, /* saved; the caller raises signals_caught() again */
    TRAIN_FAILED  /* error is set */
} TrainEnd;

/* Trains until something ends it, validating and saving on the way; the last state is saved. */
TrainEnd trainer_run(Trainer *t, Error *error);

typedef struct StepResult {
    LossSums loss;
    double grad_norm; /* before clipping */
    double lr;
    Update drawn;       /* its pieces, until the next update */
    int64_t first_line; /* of the corpus files, from 1, of its first pair */
    bool epoch_ended;
} StepResult;

/* One update. False if its loss or gradient norm is not finite: then it was skipped, and counts. */
bool trainer_step(Trainer *t, StepResult *result);

/* Epoch of the last update, from 1. */
int trainer_epoch(const Trainer *t);

#endif
