/* The looking on of a trace (trace.h): copies values from the arena while the model computes. */
#ifndef STUDY_TRACE_WATCH_H
#define STUDY_TRACE_WATCH_H

#include "study/trace.h"

/* Runs transformer_gradient and appends to the trace what it computes: values as they lie in the arena, not measured. */
LossSums trace_watch_gradient(Trace *trace, Transformer *dp, const Batch *batch, const Transformer *p,
                              const TransformerPositions *positions);

#endif
