/* Decoder layer: masked self-attention, cross-attention to the encoder's output ("memory"), feed-forward,
 * each in a residual connection. */
#ifndef MODEL_DECODER_LAYER_H
#define MODEL_DECODER_LAYER_H

#include "model/attention.h"
#include "model/feedforward.h"
#include "model/residual.h"

typedef struct DecoderLayer {
    Attention self_attn;
    Residual self_attn_residual;
    Attention encoder_attn;
    Residual encoder_attn_residual;
    FeedForward ffn;
    Residual ffn_residual;
} DecoderLayer;

typedef struct DecoderLayerActs {
    AttentionActs self_attn, encoder_attn;
    ResidualActs self_attn_residual, encoder_attn_residual;
    FeedForwardActs ffn;
    ResidualActs ffn_residual;
} DecoderLayerActs;

/* Which target rows see which: themselves (causal) and the source rows of their sentence. */
typedef struct DecoderSpans {
    AttentionSpans self, cross;
} DecoderSpans;

void decoder_layer_bind(DecoderLayer *p, ParamBinder *binder, const ModelConfig *config);

/* y, x [N,D_dec]; memory [M,D_enc]. */
void decoder_layer_forward(real *y, DecoderLayerActs *a, const real *x, const real *memory, const DecoderLayer *p,
                           int N, int M, const DecoderSpans *spans, const Dropout *drop, int layer, Arena *acts);

/* Overwrites dx [N,D_dec], which may be dy; adds to dmemory [M,D_enc] and to dp. */
void decoder_layer_backward(real *dx, real *dmemory, DecoderLayer *dp, const real *dy, const DecoderLayerActs *a,
                            const DecoderLayer *p, int N, int M, const DecoderSpans *spans, const Dropout *drop,
                            int layer, Arena *scratch);

#endif
