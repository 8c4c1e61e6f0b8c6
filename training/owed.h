/* Weights that could not be written when they were due, kept in memory until they can be ([output] on_write_error =
 * continue). One set a path: the newest. */
#ifndef TRAINING_OWED_H
#define TRAINING_OWED_H

#include "run/weights.h"

typedef struct OwedWeights {
    char *path;
    real *slab; /* [table.total] */
} OwedWeights;

typedef struct Owed {
    OwedWeights *file; /* [count] */
    int count;
} Owed;

void owed_free(Owed *owed); /* a zeroed one too */

/* Keeps a copy of slab[0..size) for this path. */
void owed_add(Owed *owed, const char *path, const real *slab, size_t size);

/* Forgets what is owed for this path. */
void owed_drop(Owed *owed, const char *path);

bool owed_has(const Owed *owed, const char *path);

/* Writes all of it; what fails, and what comes after it, is still owed. */
bool owed_write(Owed *owed, const ParamTable *table, uint64_t vocabulary, Error *error);

#endif
