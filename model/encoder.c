#include "model/encoder.h"

#include <stdio.h>

void encoder_bind(Encoder *p, ParamBinder *binder, const ModelConfig *c) {
    for (int l = 0; l < p->layers; l++) {
        snprintf(binder->prefix, sizeof binder->prefix, "model.encoder.layers.%d.", l);
        encoder_layer_bind(&p->layer[l], binder, c);
    }
    snprintf(binder->prefix, sizeof binder->prefix, "model.encoder.");
    p->has_norm = c->norm == NORM_PRE;
    if (p->has_norm) layer_norm_bind(&p->norm, binder, "layer_norm", c->encoder_width);
}

AttentionSpans self_spans(const Packed *rows, bool causal, Arena *arena) {
    AttentionSpans spans = {rows->sentences, arena_array(arena, AttentionSpan, "spans", rows->sentences)};
    for (int s = 0; s < rows->sentences; s++) {
        int start = rows->offset[s], length = packed_length(rows, s);
        spans.span[s] = (AttentionSpan){start, length, start, length, causal};
    }
    return spans;
}

void encoder_forward(EncoderActs *a, const int *ids, const Packed *rows, const Encoder *p, const Positions *positions,
                     Dropout drop, Arena *acts) {
    int N = packed_rows(rows), D = p->embedding.width;
    DropoutSite words = dropout_site(&drop, 0, DROPOUT_SOURCE_WORD), site = dropout_site(&drop, 0, DROPOUT_EMBEDDING);
    a->drop = drop;
    a->spans = self_spans(rows, false, acts);
    a->layer = arena_array(acts, EncoderLayerActs, "layers", p->layers);

    real *x = arena_reals(acts, "encoder embedding", N, D);
    embedding_forward(x, ids, rows, 0, &p->embedding, positions, &words); /* 1 */
    dropout_forward(x, x, N, D, &site);                                   /* 2 */
    for (int l = 0; l < p->layers; l++) {                                 /* 3 */
        real *y = arena_reals(acts, "encoder layer output", N, D);
        encoder_layer_forward(y, &a->layer[l], x, &p->layer[l], N, &a->spans, &a->drop, l, acts);
        x = y;
    }
    a->memory = x;
    if (p->has_norm) { /* 4 */
        a->memory = arena_reals(acts, "memory", N, D);
        layer_norm_forward(a->memory, &a->norm, x, &p->norm, N, acts);
    }
}

/* Forward     x_0 = dropout(embedding(ids)),  x_l+1 = layer_l(x_l),  memory = x_L, or its norm (pre-norm)
 * Given       dmemory.   Wanted  the parameters' gradients (ids have none).
 * Derivation  A chain: the same steps, last to first. One buffer holds the gradient at a step's output and is
 *             overwritten by that at its input.
 * Saved       by the parts. */
void encoder_backward(Encoder *dp, real *dmemory, const int *ids, const Packed *rows, const EncoderActs *a,
                      const Encoder *p, Arena *scratch) {
    int N = packed_rows(rows), D = p->embedding.width;
    DropoutSite words = dropout_site(&a->drop, 0, DROPOUT_SOURCE_WORD),
                site = dropout_site(&a->drop, 0, DROPOUT_EMBEDDING);
    real *dx = dmemory;
    if (p->has_norm) layer_norm_backward(dx, &dp->norm, dx, &a->norm, &p->norm, N); /* 4 */
    for (int l = p->layers - 1; l >= 0; l--)                                        /* 3 */
        encoder_layer_backward(dx, &dp->layer[l], dx, &a->layer[l], &p->layer[l], N, &a->spans, &a->drop, l, scratch);
    dropout_backward(dx, dx, N, D, &site);                  /* 2 */
    embedding_backward(&dp->embedding, dx, ids, N, &words); /* 1 */
}
