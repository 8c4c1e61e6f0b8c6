/* The gradient check of a whole model on a batch: every tensor of its table against the mean loss of a target token. */
#ifndef STUDY_MODEL_CHECK_H
#define STUDY_MODEL_CHECK_H

#include "model/transformer.h"
#include "study/gradient_check.h"

/* All borrowed. */
typedef struct ModelCheck {
    const ParamTable *table;
    real *parameters, *gradients; /* [table->total] */
    const Transformer *p;
    Transformer *dp; /* bound to gradients */
    const TransformerPositions *positions;
    const Batch *batch;
    double smoothing;
    double rdrop;            /* alpha of R-Drop's two passes; 0: one pass */
    const DropoutDraw *draw; /* NULL: no dropout */
    Arena *arena;
} ModelCheck;

/* context is a ModelCheck, for GradientCheck. */
double model_check_loss(void *context);

/* On which side all relus are, as GradientCheck wants it: a hash over all feed-forward networks. */
uint64_t model_check_pattern(void *context);
uint64_t decoder_pattern(uint64_t hash, const DecoderActs *a, const Decoder *p, int N);

/* Overwrites the gradients. */
void model_check_gradient(ModelCheck *c);

/* tensor [table->count], in the order of the table, with those that are zero by theory marked. */
void model_check_tensors(GradientTensor *tensor, const ModelCheck *c);

#endif
