/* The directory that holds all of a run, and is all that translating needs. For one writer at a time.
 *
 *     config.ini                the resolved configuration
 *     tokenizer.json            or tokenizer.source.json and tokenizer.target.json
 *     model.safetensors         weights to translate with
 *     model.best.safetensors    the best weights by a scheduled validation, once others took that place at the end
 *     config.json               their Hugging Face description
 *     state.safetensors         what an exact resume needs
 *     state.prev.safetensors    the state before
 *     metrics.jsonl             a line for each logged update and each validation
 *     train.log                 what was printed
 *     lock                      held while a process trains
 *     cache/                    the corpora as token ids (training/corpus_cache.h)
 *     tensorboard/              curves for TensorBoard, where [output] tensorboard asks for them
 *     epochs/                   snapshots of the weights to be averaged, NNNNNN.safetensors by update
 *     report.html               the run to look at (training/report.h)
 *
 * A state is saved as state.new.safetensors; then state becomes state.prev and state.new becomes state. At
 * each moment at least one complete state is there; opening the directory finishes renames that were cut off. */
#ifndef RUN_RUN_DIRECTORY_H
#define RUN_RUN_DIRECTORY_H

#include <stdbool.h>

#include "base/error.h"
#include "run/config.h"
#include "run/safetensors.h"

typedef enum RunFile {
    RUN_CONFIG,
    RUN_TOKENIZER,
    RUN_TOKENIZER_SOURCE,
    RUN_TOKENIZER_TARGET,
    RUN_MODEL,
    RUN_MODEL_BEST,
    RUN_MODEL_DAMAGED,
    RUN_DESCRIPTION,
    RUN_STATE,
    RUN_STATE_PREVIOUS,
    RUN_STATE_NEW,
    RUN_EPOCHS,
    RUN_METRICS,
    RUN_LOG,
    RUN_REPORT,
    RUN_LOCK,
    RUN_CACHE,
    RUN_TENSORBOARD,
    RUN_FILES
} RunFile;

/* The path of a run's file, from memory_alloc; `directory` need not exist. */
char *run_path(const char *directory, RunFile file);

typedef struct RunDirectory {
    char *path;  /* without a slash at the end */
    char *aside; /* where --fresh moved the old one, or NULL */
    int lock;    /* descriptor */
} RunDirectory;

/* Creates the directory where it is missing and locks it; refused, with its pid, while another process holds
 * it, and where there are files but no run. `fresh` moves a run that is there aside, to path.old.N. */
bool run_directory_open(RunDirectory *run, const char *path, bool fresh, Error *error);
void run_directory_close(RunDirectory *run);

/* Renames a file of the run, durably, to the name of another, which it replaces. */
bool run_directory_rename(const RunDirectory *run, RunFile from, RunFile to, Error *error);

/* Does the run have this file? */
bool run_directory_has(const RunDirectory *run, RunFile file);

/* Is there something to resume from? The second asks of a directory that is not open and need not exist. */
bool run_directory_has_state(const RunDirectory *run);
bool run_directory_would_resume(const char *path);

/* Saves a state and keeps the one before. Whatever fails, at least one complete state remains. */
bool run_directory_save_state(const RunDirectory *run, const SafetensorsTensor *tensor, int tensors,
                              const SafetensorsPair *metadata, int pairs, Error *error);

/* Reads the newest state. If it is damaged, the error says how, and whether the one before is good and how to
 * go on from it. */
bool run_directory_load_state(const RunDirectory *run, Safetensors *state, Error *error);

/* For commands that only read: is this a run with a model? If not, the error says what is missing. */
bool run_directory_check(const char *path, Error *error);

/* Writes config.json for the model of this configuration: MarianMTModel for post-norm, the same network with
 * norms first, PegasusForConditionalGeneration, for pre-norm. What these cannot express, head sizes or widths
 * of their own, is added as an object "tandem". */
bool run_directory_describe(const RunDirectory *run, const Config *config, int source_vocabulary, int target_vocabulary,
                            Error *error);

#endif
