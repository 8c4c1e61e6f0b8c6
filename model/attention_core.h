/* Scaled dot-product attention (Vaswani et al. 2017, eq. 1) on ready queries, keys and values, H heads side
 * by side.
 *
 * One piece of mathematics for encoder self-attention, masked decoder self-attention, cross-attention and
 * cached decoding steps. They differ only in the spans: which rows of Q look at which rows of K and V, and
 * whether causally. */
#ifndef MODEL_ATTENTION_CORE_H
#define MODEL_ATTENTION_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/real.h"
#include "model/dropout.h"
#include "model/tile.h"

/* Rows query .. query+queries-1 of Q attend to rows key .. key+keys-1 of K and V (n = queries, m = keys).
 * Causal: the last query sees all keys, the one before it all but the last, and so on. */
typedef struct AttentionSpan {
    int query, queries, key, keys;
    bool causal;
} AttentionSpan;

typedef struct AttentionSpans {
    int count;
    AttentionSpan *span;
} AttentionSpans;

typedef struct AttentionShape {
    int heads, d_k, d_v; /* H, K, Vd: free of each other */
} AttentionShape;

/* Head h of row n is at data[n stride + h d_k] (d_v for values). */
typedef struct HeadRows {
    const real *data;
    int stride;
} HeadRows;

typedef struct HeadRowsGrad {
    real *data;
    int stride;
} HeadRowsGrad;

typedef struct AttentionCoreActs {
    HeadRows q, k, v; /* borrowed */
    real *weights;    /* softmax before dropout, of the spans where attention_is_kept, one behind the other; of each
                         [H, queries, attention_weights_stride] */
} AttentionCoreActs;

/* Are the weights of the span kept for the backward? Those of long ones are computed again: memory then grows with the
 * length of a sentence, not with its square. */
static inline bool attention_is_kept(const AttentionSpan *s) { return (int64_t)s->queries * s->keys <= 128 * 128; }

/* out [rows of Q, H d_v] of stride H d_v. A query that sees no key gets zeros. */
void attention_core_forward(real *out, AttentionCoreActs *a, HeadRows q, HeadRows k, HeadRows v, AttentionShape shape,
                            const AttentionSpans *spans, const DropoutSite *drop, Arena *acts);

/* Overwrites the rows of dq, dk, dv that the spans cover (each row must be in one span only).
 * Reads dout [rows of Q, H d_v]. */
void attention_core_backward(HeadRowsGrad dq, HeadRowsGrad dk, HeadRowsGrad dv, const real *dout,
                             const AttentionCoreActs *a, AttentionShape shape, const AttentionSpans *spans,
                             const DropoutSite *drop, Arena *scratch);

/* Keys that query i of the span sees: the first so many. */
static inline int attention_visible(const AttentionSpan *s, int i) {
    if (!s->causal) return s->keys;
    int visible = s->keys - s->queries + i + 1;
    return visible > 0 ? visible : 0;
}

/* The rows of a span's weights are so far apart: an odd number of tiles, so that the rows of a column do not all fall
 * into the same few lines of the cache. */
static inline int attention_weights_stride(const AttentionSpan *s) { return tile_pad(s->keys) | TILE_COLS; }

#endif
