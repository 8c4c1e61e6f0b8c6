/* What a training would do, told without doing any of it. */
#ifndef TRAINING_DRY_RUN_H
#define TRAINING_DRY_RUN_H

#include <stdio.h>

#include "run/config.h"

/* Prints the resolved configuration, the table of parameters, the updates of an epoch and the learning rate's curve. The
 * corpora are read and the tokenizer is learned in memory, or taken from [train] init_from; nothing is written but `out`.
 * fresh: as if a run that is there were moved aside. Fails as a training would, on files that it cannot use. config is
 * taken over. */
bool dry_run(Config *config, bool fresh, FILE *out, Error *error);

#endif
