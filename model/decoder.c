#include "model/decoder.h"

#include <stdio.h>

#include "model/encoder.h"

void decoder_bind(Decoder *p, ParamBinder *binder, const ModelConfig *c) {
    for (int l = 0; l < p->layers; l++) {
        snprintf(binder->prefix, sizeof binder->prefix, "model.decoder.layers.%d.", l);
        decoder_layer_bind(&p->layer[l], binder, c);
    }
    snprintf(binder->prefix, sizeof binder->prefix, "model.decoder.");
    p->has_norm = c->norm == NORM_PRE;
    if (p->has_norm) layer_norm_bind(&p->norm, binder, "layer_norm", c->decoder_width);
}

/* Every target row of a sentence sees all of its source rows. */
static AttentionSpans cross_spans(const Packed *rows, const Packed *source_rows, Arena *arena) {
    AttentionSpans spans = {rows->sentences, arena_array(arena, AttentionSpan, "spans", rows->sentences)};
    for (int s = 0; s < rows->sentences; s++)
        spans.span[s] = (AttentionSpan){rows->offset[s], packed_length(rows, s), source_rows->offset[s],
                                        packed_length(source_rows, s), false};
    return spans;
}

void decoder_forward(DecoderActs *a, const int *ids, const real *memory, const Packed *rows, const Packed *source_rows,
                     const Decoder *p, const Positions *positions, Dropout drop, Arena *acts) {
    int N = packed_rows(rows), M = packed_rows(source_rows), D = p->embedding.width;
    DropoutSite words = dropout_site(&drop, 0, DROPOUT_TARGET_WORD), site = dropout_site(&drop, 0, DROPOUT_EMBEDDING);
    a->drop = drop;
    a->spans = (DecoderSpans){self_spans(rows, true, acts), cross_spans(rows, source_rows, acts)};
    a->layer = arena_array(acts, DecoderLayerActs, "layers", p->layers);

    real *x = arena_reals(acts, "decoder embedding", N, D);
    embedding_forward(x, ids, rows, 0, &p->embedding, positions, &words); /* 1 */
    dropout_forward(x, x, N, D, &site);                                   /* 2 */
    for (int l = 0; l < p->layers; l++) {                                 /* 3 */
        real *y = arena_reals(acts, "decoder layer output", N, D);
        decoder_layer_forward(y, &a->layer[l], x, memory, &p->layer[l], N, M, &a->spans, &a->drop, l, acts);
        x = y;
    }
    a->hidden = x;
    if (p->has_norm) { /* 4 */
        a->hidden = arena_reals(acts, "hidden", N, D);
        layer_norm_forward(a->hidden, &a->norm, x, &p->norm, N, acts);
    }
}

/* Forward     x_0 = dropout(embedding(ids)),  x_l+1 = layer_l(x_l, memory),  hidden = x_L, or its norm (pre-norm)
 * Given       dhidden.   Wanted  dmemory and the parameters' gradients.
 * Derivation  A chain in x: the same steps, last to first. memory fans out to all layers: each adds its share.
 * Saved       by the parts. */
void decoder_backward(Decoder *dp, real *dmemory, real *dhidden, const int *ids, const Packed *rows,
                      const Packed *source_rows, const DecoderActs *a, const Decoder *p, Arena *scratch) {
    int N = packed_rows(rows), M = packed_rows(source_rows), D = p->embedding.width;
    DropoutSite words = dropout_site(&a->drop, 0, DROPOUT_TARGET_WORD),
                site = dropout_site(&a->drop, 0, DROPOUT_EMBEDDING);
    real *dx = dhidden;
    if (p->has_norm) layer_norm_backward(dx, &dp->norm, dx, &a->norm, &p->norm, N); /* 4 */
    for (int l = p->layers - 1; l >= 0; l--)                                        /* 3 */
        decoder_layer_backward(dx, dmemory, &dp->layer[l], dx, &a->layer[l], &p->layer[l], N, M, &a->spans, &a->drop, l,
                               scratch);
    dropout_backward(dx, dx, N, D, &site);                  /* 2 */
    embedding_backward(&dp->embedding, dx, ids, N, &words); /* 1 */
}
