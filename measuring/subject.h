/* What is measured: a trainer without a run directory, on a corpus or on made-up sentences. Nothing is written. */
#ifndef MEASURING_SUBJECT_H
#define MEASURING_SUBJECT_H

#include "training/trainer.h"

/* Where the sentences come from. */
typedef struct SubjectText {
    bool made_up; /* else from config.data */
    int length;   /* made up: tokens a side with </s>; 0: like those of Multi30k */
} SubjectText;

/* Takes config over. The corpus is read and its tokenizer learned as ./train would; where it is made up, the vocabulary
 * has exactly the configured size. Free with trainer_close. On failure there is nothing to free. */
bool subject_open(Trainer *t, Config *config, const SubjectText *text, Error *error);

/* The Tiny model of Wu et al. 2021 (Multi30k), for a call without a configuration. */
bool subject_standard_config(Config *config, const char *const *overrides, int count, Error *error);

#endif
