/* What the values in a buffer are: a name, a formula and the function that computed them.
 *
 * Layers reuse buffers: in a decoder layer's backward pass "sublayer output" is the gradient of three sublayers' outputs,
 * one after the other. Which one follows from the place in the model and from how often the buffer has changed there:
 * one table of rules (trace_names.c). A buffer without a rule keeps its own name, behind the place. */
#ifndef STUDY_TRACE_NAMES_H
#define STUDY_TRACE_NAMES_H

#include <stdbool.h>

#include "base/arena.h"
#include "model/transformer.h"

typedef struct TracePlace {
    const Transformer *model;
    bool backward, decoder;
    int layer;    /* -1: in none yet */
    int sublayer; /* of the layer, in forward order; one behind the last: the norm of the whole side */
} TracePlace;

typedef struct TraceRule {
    const char *buffer, *taker; /* name and function of the arena's record; NULL: any function */
    const char *when;           /* direction F B, version 1 2, sublayer s c f n -, norm p o, side e d; * for any */
    const char *name;           /* {..} as in trace_name */
    const char *formula, *function, *file;
} TraceRule;

int trace_sublayers(const TracePlace *place); /* of a layer: 2 or 3 */

/* The rule for the buffer's version-th values in this layer, or NULL. */
const TraceRule *trace_rule(const TracePlace *place, const ArenaRecord *record, int version);

/* Writes the name. {s} sublayer, {l} layer, {side}, {in} what enters the layer, {x} what enters the sublayer's residual,
 * {out} what leaves the sublayer's, {last} what leaves the side's last layer. */
void trace_name(char *name, size_t size, const TraceRule *rule, const TracePlace *place, const ArenaRecord *record);

/* All rules, for tests. */
const TraceRule *trace_rules(int *count);

#endif
