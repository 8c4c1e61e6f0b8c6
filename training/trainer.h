/* Training of one run, from its configuration to the last saved state.
 *
 * The path of a gradient, from the top: trainer_step draws an update and calls lanes_gradient, which calls
 * transformer_gradient for each piece; lanes_sum adds the lanes; adam_update changes the parameters. */
#ifndef TRAINING_TRAINER_H
#define TRAINING_TRAINER_H

#include "data/batches.h"
#include "decoding/translator.h"
#include "run/run_directory.h"
#include "training/adam.h"
#include "training/lanes.h"
#include "training/log.h"

/* Sums since the last logged line. */
typedef struct TrainWindow {
    LossSums loss;
    int64_t source_tokens;
    double seconds;
} TrainWindow;

/* All that has happened so far, other than tensors: saved with them, so that a resume goes on exactly. */
typedef struct TrainState {
    int64_t update; /* taken, skipped ones included */
    double seconds; /* of training, over all resumes */
    double best;    /* best value of the validation metric; meaningless while best_update is 0 */
    int64_t best_update;
    int stalled;       /* validations since then */
    int64_t validated; /* update of the last validation, 0 before the first */
    int bad_in_a_row;  /* updates skipped because something was not finite */
    TrainWindow window;
} TrainState;

typedef struct Trainer {
    Config config;
    RunDirectory run;
    Log log;
    Tokenizer *source, *target; /* one and the same where the vocabulary is shared */
    ParallelText valid_text;
    ParallelText train_text; /* kept only for BPE-dropout */
    EncodingDropout dropout; /* of the tokenizer; its rate is 0 where there is none */
    Corpus train, valid;     /* valid.pairs is 0 without validation data */
    ParamTable table;
    real *slab; /* [table.total] parameters */
    Transformer model;
    TransformerPositions positions;
    Lanes lanes;
    Adam adam;
    Batcher batcher;
    Arena update; /* holds the ids of the current update */
    TrainState state;
    bool report_named; /* has it been said where the report is? */
} Trainer;

/* Everything up to the first update: run directory, corpora, tokenizer (learned, or loaded from the run), model, and the
 * saved state where there is one. Prints the plan. On failure there is nothing to free.
 * config is taken over. fresh: move an old run aside. */
bool trainer_open(Trainer *t, Config *config, bool fresh, Error *error);
void trainer_close(Trainer *t);

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

/* Mean losses, BLEU, chrF and exact matches on the validation corpus; prints samples. Keeps the best value and counts the
 * validations since; writes model.safetensors where the value is the best so far. */
bool trainer_validate(Trainer *t, Error *error);

/* Which BLEU and chrF that are. */
void trainer_print_signatures(Trainer *t);

bool trainer_save(Trainer *t, Error *error);
bool trainer_resume(Trainer *t, Error *error);

/* Writes report.html (training/report.h), and says where it is, the first time and at the end (`last`). It is only a view:
 * a failure is said, and training goes on. */
void trainer_report(Trainer *t, const char *status, bool last);

bool trainer_has_model(const Trainer *t);

/* Writes model.safetensors from the current parameters. */
bool trainer_save_model(Trainer *t, Error *error);

#endif
