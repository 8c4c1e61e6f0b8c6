/* The encoder-decoder Transformer of Vaswani et al. 2017: parameters, forward pass, loss, and the gradient of a piece.
 *
 * Parameters and gradients have the same type, bound to different slabs by the same visit (params.h). */
#ifndef MODEL_TRANSFORMER_H
#define MODEL_TRANSFORMER_H

#include "model/decoder.h"
#include "model/encoder.h"
#include "model/loss.h"

typedef struct Transformer {
    ModelConfig config;
    Encoder encoder;
    Decoder decoder;
    Linear output; /* [V_tgt, D_dec], no bias; may be one matrix with the embeddings */
} Transformer;

typedef struct TransformerActs {
    EncoderActs encoder;
    DecoderActs decoder;
} TransformerActs;

/* The constant parts that all passes share: a cache of sinusoids for each side. */
typedef struct TransformerPositions {
    Positions source, target;
} TransformerPositions;

/* Describes all tensors of the configuration's model. Free with param_table_free. */
ParamTable transformer_table(const ModelConfig *config);

/* Points p at a slab of table.total reals (parameters, or a gradient). Free with transformer_free; the slab is the
 * caller's. */
void transformer_init(Transformer *p, const ModelConfig *config, real *slab);
void transformer_free(Transformer *p);

void transformer_positions_init(TransformerPositions *t, const ModelConfig *config);
void transformer_positions_free(TransformerPositions *t);

/* Forward pass of a piece; a->decoder.hidden [target rows, D_dec] is its result. draw == NULL: no dropout. */
void transformer_forward(TransformerActs *a, const Batch *batch, const Transformer *p, const TransformerPositions *t,
                         const DropoutDraw *draw, Arena *acts);

/* Adds to dp the gradient, given dhidden [target rows, D_dec], which is overwritten. */
void transformer_backward(Transformer *dp, real *dhidden, const Batch *batch, const TransformerActs *a,
                          const Transformer *p, Arena *scratch);

/* Loss of a piece, without gradient. row_nll [target rows] may be NULL. */
LossSums transformer_loss(real *row_nll, const Batch *batch, const Transformer *p, const TransformerPositions *t,
                          double smoothing, const DropoutDraw *draw, Arena *arena);

/* Loss of a piece; adds to dp the gradient of scale * (summed objective). Leaves the arena as it found it. */
LossSums transformer_gradient(Transformer *dp, const Batch *batch, const Transformer *p, const TransformerPositions *t,
                              double smoothing, double scale, const DropoutDraw *draw, Arena *arena);

/* The same two for R-Drop (model/rdrop.h), of two passes over the piece: dropout copies 0 and 1 of draw, which
 * is not NULL. */
LossSums transformer_rdrop_loss(const Batch *batch, const Transformer *p, const TransformerPositions *t,
                                double smoothing, double alpha, const DropoutDraw *draw, Arena *arena);
LossSums transformer_rdrop_gradient(Transformer *dp, const Batch *batch, const Transformer *p,
                                    const TransformerPositions *t, double smoothing, double alpha, double scale,
                                    const DropoutDraw *draw, Arena *arena);

/* logits [target rows, V_tgt] of a piece, for tests and study: training never makes them all. */
void transformer_logits(real *logits, const Batch *batch, const Transformer *p, const TransformerPositions *t,
                        Arena *arena);

#endif
