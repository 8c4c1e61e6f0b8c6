/* Decoder: embedding, a stack of layers that read the encoder's memory, in pre-norm a final norm. */
#ifndef MODEL_DECODER_H
#define MODEL_DECODER_H

#include "model/decoder_layer.h"
#include "model/embedding.h"

typedef struct Decoder {
    Embedding embedding;
    int layers;
    DecoderLayer *layer; /* [layers] */
    bool has_norm;       /* pre-norm only */
    LayerNorm norm;
} Decoder;

typedef struct DecoderActs {
    Dropout drop;
    DecoderSpans spans;
    DecoderLayerActs *layer; /* [layers] */
    LayerNormActs norm;
    real *hidden; /* [N,D] the output, which the output layer turns into logits */
} DecoderActs;

/* Binds the layers and the norm; the embedding is bound (or tied) by the transformer. */
void decoder_bind(Decoder *p, ParamBinder *binder, const ModelConfig *config);

/* ids [N]: the decoder's input, <s> first. memory [M,D_enc] of source_rows. */
void decoder_forward(DecoderActs *a, const int *ids, const real *memory, const Packed *rows, const Packed *source_rows,
                     const Decoder *p, const Positions *positions, Dropout drop, Arena *acts);

/* Overwrites dhidden, the gradient of a->hidden, on its way down; adds to dmemory [M,D_enc] and to dp. */
void decoder_backward(Decoder *dp, real *dmemory, real *dhidden, const int *ids, const Packed *rows,
                      const Packed *source_rows, const DecoderActs *a, const Decoder *p, Arena *scratch);

#endif
