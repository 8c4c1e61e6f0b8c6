/* The decoder one token at a time: each step computes one row a hypothesis, against cached keys and values.
 *
 * The same layers as decoder_layer.c and the same attention_core; only the linear layers differ (packed_linear.h), so
 * that the logits of a hypothesis have the same bits alone and in any batch. */
#ifndef DECODING_STEP_H
#define DECODING_STEP_H

#include "decoding/packed_linear.h"
#include "model/transformer.h"

typedef struct PackedDecoderLayer {
    PackedLinear self_qkv, self_out, cross_q, cross_out, fc1, fc2;
} PackedDecoderLayer;

/* A model ready to decode: never changes, so threads may share it. */
typedef struct StepModel {
    const Transformer *p; /* borrowed */
    const TransformerPositions *positions;
    PackedDecoderLayer *layer; /* [decoder layers] */
    PackedLinear output;
} StepModel;

void step_model_init(StepModel *m, const Transformer *p, const TransformerPositions *positions);
void step_model_free(StepModel *m);

/* Keys and values of one decoder layer. Slot s has rows s capacity .. of the self-attention's and rows
 * source.offset[s] .. of the cross-attention's. */
typedef struct LayerCache {
    real *self_k, *self_v; /* [slots capacity, H K], [.., H Vd] */
    real *cross_kv;        /* [source rows, H K + H Vd], as the joined projection leaves them */
} LayerCache;

typedef struct StepCache {
    int slots, capacity; /* capacity: most target tokens of a slot */
    int *length;         /* [slots] tokens so far */
    Packed source;       /* rows of each slot's source sentence */
    LayerCache *layer;   /* [decoder layers] */
} StepCache;

/* Encodes the sources and fills the cache for one slot a sentence, all in the arena. Each sentence goes through the
 * encoder alone, which makes its bits independent of the others. source_ids end with </s>. */
StepCache step_begin(const StepModel *m, const int *source_ids, Packed source, int capacity, Arena *arena);

/* Feeds ids[0..rows) to slots slot[0..rows), each slot once, and gives the logits [rows, V_tgt] of what follows. */
void step_forward(real *logits, StepCache *cache, const StepModel *m, const int *slot, const int *ids, int rows,
                  Arena *scratch);

#endif
