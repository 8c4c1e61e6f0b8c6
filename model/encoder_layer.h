/* Encoder layer: self-attention, then feed-forward, each in a residual connection. */
#ifndef MODEL_ENCODER_LAYER_H
#define MODEL_ENCODER_LAYER_H

#include "model/attention.h"
#include "model/feedforward.h"
#include "model/residual.h"

typedef struct EncoderLayer {
    Attention self_attn;
    Residual self_attn_residual;
    FeedForward ffn;
    Residual ffn_residual;
} EncoderLayer;

typedef struct EncoderLayerActs {
    AttentionActs self_attn;
    ResidualActs self_attn_residual;
    FeedForwardActs ffn;
    ResidualActs ffn_residual;
} EncoderLayerActs;

void encoder_layer_bind(EncoderLayer *p, ParamBinder *binder, const ModelConfig *config);

/* y, x [N,D]. `layer` counts from 0: dropout masks depend on it. */
void encoder_layer_forward(real *y, EncoderLayerActs *a, const real *x, const EncoderLayer *p, int N,
                           const AttentionSpans *spans, const Dropout *drop, int layer, Arena *acts);

/* Overwrites dx [N,D], which may be dy; adds to dp. */
void encoder_layer_backward(real *dx, EncoderLayer *dp, const real *dy, const EncoderLayerActs *a,
                            const EncoderLayer *p, int N, const AttentionSpans *spans, const Dropout *drop, int layer,
                            Arena *scratch);

#endif
