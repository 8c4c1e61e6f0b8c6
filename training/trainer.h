/* Training of one run, from its configuration to the last saved state.
 *
 * The path of a gradient, from the top: trainer_step draws an update and calls lanes_gradient, which calls
 * transformer_gradient for each piece; lanes_sum adds the lanes; optimizer_update changes the parameters. */
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

/* What model.safetensors holds, since a validation found it best. */
typedef struct ModelOrigin {
    int64_t update;    /* 0: nothing was validated yet */
    double value, nll; /* the validation metric's (NaN: another measure's), and without label smoothing */
    int snapshots;     /* of which it is the average; 0: of none */
} ModelOrigin;

/* All that has happened so far, other than tensors: saved with them, so that a resume goes on exactly. */
typedef struct TrainState {
    int64_t update; /* taken, skipped ones included */
    double seconds; /* of training, over all resumes */
    double best,
        best_nll; /* best value of the validation metric, NaN if by another measure; meaningless while best_update is 0 */
    int64_t best_update;
    int stalled;       /* validations since then */
    int64_t validated; /* update of the last scheduled validation, 0 before the first */
    int64_t concluded; /* update after which training ended and everything was done that is done then; else 0 */
    SnapshotList snapshots;
    int bad_in_a_row; /* updates skipped because something was not finite */
    int reductions;   /* of the learning rate, by [train] schedule = plateau */
    TrainWindow window;
} TrainState;

typedef struct Trainer {
    Config config;
    RunDirectory run;
    Log log;
    Metrics metrics;
    Owed owed;
    Tokenizer *source, *target; /* one and the same where the vocabulary is shared */
    ParallelText valid_text;
    ParallelText train_text; /* kept only for BPE-dropout */
    EncodingDropout dropout; /* of the tokenizer; its rate is 0 where there is none */
    CorpusPlaces places;     /* of the training text */
    Corpus train, valid;     /* valid.pairs is 0 without validation data */
    ParamTable table;
    real *slab; /* [table.total] parameters */
    Transformer model;
    /* What is validated, saved as the model, and translates: their moving average, or, where [train] ema = 0, the same. */
    real *served; /* [table.total] */
    Transformer served_model;
    TransformerPositions positions;
    Lanes lanes;
    Optimizer optimizer;
    Batcher batcher;
    Arena update; /* holds the ids of the current update */
    Norms norms;
    EventFile events; /* for TensorBoard */
    TrainState state;
    ModelOrigin origin; /* of model.safetensors */
    bool report_named;  /* has it been said where the report is? */
    /* What the last state on disk says, for the pruning of snapshots. */
    SnapshotList saved_snapshots;
    int64_t saved_update;
} Trainer;

/* Everything up to the first update: run directory, corpora, tokenizer (learned, or loaded from the run), model, and the
 * saved state where there is one. Prints the plan. On failure there is nothing to free.
 * config is taken over. fresh: move an old run aside. */
bool trainer_open(Trainer *t, Config *config, bool fresh, Error *error);
void trainer_close(Trainer *t);

/* Replaces `auto` by what it stands for on this machine. */
void trainer_plan_threads(ConfigTrain *config);

/* The part of it that needs no run directory: parameters, gradients, optimizer and batches for t->config, t->train and
 * the sizes of the vocabularies. */
void trainer_make_model(Trainer *t, int source_vocab, int target_vocab);

/* With BPE-dropout the training text is needed as long as training goes on: takes it over then. Else does nothing. */
void trainer_keep_text(Trainer *t, ParallelText *text);

typedef enum TrainEnd {
    TRAIN_GOES_ON,
    TRAIN_EPOCHS,
    TRAIN_UPDATES,
    TRAIN_MINUTES,
    TRAIN_PATIENCE,
    TRAIN_SIGNAL, /* saved; the caller raises trainer_signal() again */
    TRAIN_FAILED  /* error is set */
} TrainEnd;

/* Trains until something ends it, validating and saving on the way; the last state is saved. */
TrainEnd trainer_run(Trainer *t, Error *error);

/* The SIGINT or SIGTERM that asked to stop, or 0. trainer_run catches the first one; a second one kills. */
int trainer_signal(void);

/* One update. Its loss sums and gradient norm (before clipping); false if one is not finite: then it was skipped. */
typedef struct StepResult {
    LossSums loss;
    double grad_norm, lr;
    Update drawn;       /* its pieces, until the next update */
    int64_t first_line; /* of the corpus files, from 1, of its first pair */
    bool epoch_ended;
} StepResult;

bool trainer_step(Trainer *t, StepResult *result);

/* Says that an update was skipped and where its pairs stand; false after [train] max_bad_updates in a row. */
bool trainer_bad_update(Trainer *t, const StepResult *r, Error *error);

/* Are parameters, moments and the loss of a pair finite? Nothing else may be saved. */
bool trainer_check_finite(Trainer *t, Error *error);

/* Epoch of the last update, from 1. */
int trainer_epoch(const Trainer *t);

/* Mean losses, BLEU, chrF and exact matches on the validation corpus, of the current parameters; prints samples. Keeps
 * the best value and counts the validations since; writes model.safetensors where the value is the best so far. Of m only
 * what tells the occasion is read: {0} for a scheduled validation, else closing and snapshot. */
bool trainer_validate(Trainer *t, ValidMetrics m, Error *error);

/* Keeps the current weights as the youngest of [average] last. */
bool trainer_take_snapshot(Trainer *t, Error *error);

/* Keeps them if their value of the validation metric is among [average] best. */
bool trainer_offer_snapshot(Trainer *t, double value, Error *error);

/* Validates the mean of the snapshots, which becomes model.safetensors if it is better than the best so far or nothing
 * can be compared. Leaves the parameters as they are. */
bool trainer_average(Trainer *t, Error *error);

/* Before the first update of a process: undoes an earlier conclusion. */
bool trainer_go_on(Trainer *t, Error *error);

/* At the end of training: validates the last parameters and the average, and saves a state that says so. */
bool trainer_conclude(Trainer *t, Error *error);
bool trainer_concluded(const Trainer *t); /* with the present state: nothing is left to do */

/* Copies model.safetensors, of a scheduled validation, aside before it is replaced by what concluding found. */
bool trainer_keep_scheduled_model(Trainer *t, Error *error);

/* Which BLEU and chrF that are. */
void trainer_print_signatures(Trainer *t);

/* Writes what could not be written before. */
bool trainer_write_owed(Trainer *t, Error *error);

/* Writes what is owed, then the state, then, while there is no best, the model; removes snapshots that are no longer
 * needed. So a state on disk never tells of files that are not there. */
bool trainer_save(Trainer *t, Error *error);

/* The same without the model. */
bool trainer_save_state(Trainer *t, Error *error);
bool trainer_resume(Trainer *t, Error *error);

/* Writes report.html (training/report.h), and says where it is, the first time and at the end (`last`). It is only a view:
 * a failure is said, and training goes on. */
void trainer_report(Trainer *t, const char *status, bool last);

bool trainer_has_model(const Trainer *t); /* or one is owed */

/* Is there a best value to compare with? */
bool trainer_has_best(const Trainer *t);

/* With [output] on_write_error = continue: says the error, and training goes on. Else false. */
bool trainer_forgives(Trainer *t, const Error *error);

/* Writes the current parameters to this path, or model.safetensors. Where a failure is forgiven they are owed. */
bool trainer_save_weights(Trainer *t, const char *path, Error *error);
bool trainer_save_model(Trainer *t, Error *error);

#endif
