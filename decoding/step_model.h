/* A model ready to decode: its linear layers with packed weights (packed_linear.h), everything else as it is. */
#ifndef DECODING_STEP_MODEL_H
#define DECODING_STEP_MODEL_H

#include "decoding/shortlist.h"
#include "model/transformer.h"

typedef struct PackedEncoderLayer {
    PackedLinear self_qkv, self_out, fc1, fc2;
} PackedEncoderLayer;

typedef struct PackedDecoderLayer {
    PackedLinear self_qkv, self_out, cross_q, cross_kv, cross_out, fc1, fc2;
} PackedDecoderLayer;

/* Never changes, so threads may share it. */
typedef struct StepModel {
    const Transformer *p; /* borrowed */
    const TransformerPositions *positions;
    PackedEncoderLayer *encoder; /* [encoder layers] */
    PackedDecoderLayer *decoder; /* [decoder layers] */
    PackedLinear output;
    Shortlist shortlist; /* of the output layer */
} StepModel;

void step_model_init(StepModel *m, const Transformer *p, const TransformerPositions *positions);
void step_model_free(StepModel *m);

/* y [N,D] = fc2(activation(fc1(x))): feedforward.c of both sides. */
void packed_feed_forward(real *y, const real *x, const PackedLinear *fc1, const PackedLinear *fc2,
                         Activation activation, int N, Arena *scratch);

#endif
