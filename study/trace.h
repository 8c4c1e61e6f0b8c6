/* Every tensor of a forward and a backward pass, in order of computation, of a real model and by the model's own code.
 *
 * The layers take their activations and gradients from an arena, by name (base/arena.h), and compute in parts
 * (base/parts.h). A trace looks on: when a part has ended it walks the arena and copies each tensor whose values are new,
 * so that it also has what is overwritten or released later. trace_names.h tells what the values are. */
#ifndef STUDY_TRACE_H
#define STUDY_TRACE_H

#include <stdbool.h>

#include "model/transformer.h"

typedef struct TraceTensor {
    char name[96];               /* "decoder.1.ffn.hidden"; its gradient: "decoder.1.ffn.hidden.grad" */
    const char *formula;         /* of the step that computed it; "" where none is known */
    const char *function, *file; /* who computed it */
    bool is_gradient;
    int rows, cols;
    real *values;                          /* [rows, cols] owned */
    double mean, deviation, largest, norm; /* of the values: the largest is a magnitude, the norm that of L2 */
} TraceTensor;

typedef struct Trace {
    TraceTensor *tensor; /* [count] */
    int count;
    LossSums loss;
} Trace;

/* One forward and backward pass of the batch, which is one sentence pair of at most TRACE_MOST_TOKENS a side: longer spans
 * keep no attention weights. The gradients are those of L = -log p(target | source), summed over the target tokens,
 * without dropout and smoothing; those of the parameters are added to dp.
 * Beyond what the pass itself computes, the two shares of each cross-attention's gradient of the encoder's output:
 * decoder.L.encoder_attn.memory.grad.keys = dk Wk and .values = dv Wv. */
enum { TRACE_MOST_TOKENS = 128 };
void trace_run(Trace *trace, Transformer *dp, const Batch *batch, const Transformer *p,
               const TransformerPositions *positions);
void trace_free(Trace *trace);

/* NULL: there is none of that name. */
const TraceTensor *trace_find(const Trace *trace, const char *name);

/* Fills mean, deviation, largest and norm from the values. */
void trace_measure(TraceTensor *tensor);

#endif
