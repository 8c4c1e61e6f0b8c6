/* Encoder: embedding, a stack of layers, in pre-norm a final norm. Its output is the decoder's "memory". */
#ifndef MODEL_ENCODER_H
#define MODEL_ENCODER_H

#include "model/embedding.h"
#include "model/encoder_layer.h"

typedef struct Encoder {
    Embedding embedding;
    int layers;
    EncoderLayer *layer; /* [layers] */
    bool has_norm;       /* pre-norm only */
    LayerNorm norm;
} Encoder;

typedef struct EncoderActs {
    Dropout drop;
    AttentionSpans spans;
    EncoderLayerActs *layer; /* [layers] */
    LayerNormActs norm;
    real *memory; /* [N,D] the output */
} EncoderActs;

/* Binds the layers and the norm; the embedding is bound (or tied) by the transformer. */
void encoder_bind(Encoder *p, ParamBinder *binder, const ModelConfig *config);

void encoder_forward(EncoderActs *a, const int *ids, const Packed *rows, const Encoder *p, const Positions *positions,
                     Dropout drop, Arena *acts);

/* Overwrites dmemory, the gradient of a->memory, on its way down; adds to dp. */
void encoder_backward(Encoder *dp, real *dmemory, const int *ids, const Packed *rows, const EncoderActs *a,
                      const Encoder *p, Arena *scratch);

/* Every sentence's rows look at each other (causal or not). */
AttentionSpans self_spans(const Packed *rows, bool causal, Arena *arena);

#endif
