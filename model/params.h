/* The parameter table: every tensor's name, shape, place in one slab, role and tie, from one visit of the model.
 *
 * Each module has a `module_bind` that names its tensors in order; binding sets the module's pointers into
 * a slab of reals and, on request, appends to a table. The same table then serves initialisation, gradient
 * slabs, Adam, checkpoints, gradient checks and norms: parameters are one flat array to all of those. */
#ifndef MODEL_PARAMS_H
#define MODEL_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/real.h"

typedef enum ParamRole {
    PARAM_MATRIX,      /* Xavier uniform */
    PARAM_QKV_MATRIX,  /* Xavier uniform times ParamTable.qkv_gain */
    PARAM_EMBEDDING,   /* normal, standard deviation D^-1/2 */
    PARAM_BIAS,        /* 0 */
    PARAM_NORM_WEIGHT, /* 1 */
    PARAM_NORM_BIAS    /* 0 */
} ParamRole;

typedef struct Param {
    char name[96]; /* Hugging Face's, such as model.encoder.layers.0.fc1.weight */
    int rank;      /* 1: [cols], 2: [rows, cols] */
    int rows, cols;
    size_t offset; /* in the slab, in reals */
    ParamRole role;
    char also[160]; /* other names of the same tensor where it is tied, a space after each */
} Param;

typedef struct ParamTable {
    Param *param;
    int count;
    size_t total;    /* reals in a slab */
    double qkv_gain; /* see ModelConfig */
} ParamTable;

static inline size_t param_size(const Param *p) { return (size_t)p->rows * (size_t)p->cols; }

typedef struct ParamBinder {
    real *slab; /* NULL: only count and describe */
    size_t used;
    ParamTable *table; /* NULL: only bind */
    char prefix[64];   /* of the names, such as "model.encoder.layers.0." */
} ParamBinder;

/* Binds *slot to the next rows*cols reals of the slab, named prefix + name. A vector has rank 1 and rows 1. */
void param_bind(ParamBinder *b, real **slot, const char *name, int rank, int rows, int cols, ParamRole role);

/* Binds *slot to a tensor that is already bound, under a second name. */
void param_tie(ParamBinder *b, real **slot, real *tied_to, size_t offset, const char *name);

/* Index of a tensor by any of its names, or -1: for tests and study. */
int param_find(const ParamTable *table, const char *name);

/* Fills a slab with initial values (Glorot and Bengio 2010, eq. 16; see ParamRole): a pure function of the
 * table, the seed and each tensor's place in the table, equal in float and double up to rounding. */
void param_init(real *slab, const ParamTable *table, uint64_t seed);

void param_table_free(ParamTable *table);

#endif
