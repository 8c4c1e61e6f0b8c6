#include "model/transformer.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/vec.h"
#include "model/rdrop.h"

enum { POSITION_CACHE_ROWS = 1024 };

static void bind_matrix(ParamBinder *b, real **slot, const char *prefix, const char *name, int V, int D,
                        ParamRole role) {
    snprintf(b->prefix, sizeof b->prefix, "%s", prefix);
    param_bind(b, slot, name, 2, V, D, role);
}

static void tie_matrix(ParamBinder *b, real **slot, real *tied_to, size_t offset, const char *prefix,
                       const char *name) {
    snprintf(b->prefix, sizeof b->prefix, "%s", prefix);
    param_tie(b, slot, tied_to, offset, name);
}

/* Source embedding, target embedding and output layer: three uses of one, two or three matrices. Where they are
 * tied, the gradients of the uses meet in one place of the gradient slab, each added there by its own backward. */
static void bind_embeddings(Transformer *p, ParamBinder *b) {
    const ModelConfig *c = &p->config;
    real **source = &p->encoder.embedding.E, **target = &p->decoder.embedding.E, **output = &p->output.W;
    p->encoder.embedding = (Embedding){.vocab = c->source_vocab, .width = c->encoder_width};
    p->decoder.embedding = (Embedding){.vocab = c->target_vocab, .width = c->decoder_width};
    p->output = (Linear){.in = c->decoder_width, .out = c->target_vocab};
    size_t target_offset = 0;
    if (c->tie == TIE_ALL) {
        bind_matrix(b, source, "model.", "shared.weight", c->source_vocab, c->encoder_width, PARAM_EMBEDDING);
        tie_matrix(b, source, *source, 0, "model.encoder.", "embed_tokens.weight");
        tie_matrix(b, target, *source, 0, "model.decoder.", "embed_tokens.weight");
    } else {
        bind_matrix(b, source, "model.encoder.", "embed_tokens.weight", c->source_vocab, c->encoder_width,
                    PARAM_EMBEDDING);
        target_offset = b->used;
        bind_matrix(b, target, "model.decoder.", "embed_tokens.weight", c->target_vocab, c->decoder_width,
                    PARAM_EMBEDDING);
    }
    if (c->tie == TIE_NONE)
        bind_matrix(b, output, "", "lm_head.weight", c->target_vocab, c->decoder_width, PARAM_MATRIX);
    else
        tie_matrix(b, output, *target, target_offset, "", "lm_head.weight");
}

static void bind_all(Transformer *p, ParamBinder *binder) {
    bind_embeddings(p, binder);
    encoder_bind(&p->encoder, binder, &p->config);
    decoder_bind(&p->decoder, binder, &p->config);
}

static void allocate(Transformer *p, const ModelConfig *c) {
    *p = (Transformer){.config = *c};
    p->encoder.layers = c->encoder_layers;
    p->decoder.layers = c->decoder_layers;
    p->encoder.layer = memory_alloc((size_t)c->encoder_layers, sizeof *p->encoder.layer, "encoder layers");
    p->decoder.layer = memory_alloc((size_t)c->decoder_layers, sizeof *p->decoder.layer, "decoder layers");
}

ParamTable transformer_table(const ModelConfig *config) {
    ParamTable table = {.qkv_gain = config->qkv_gain};
    Transformer p;
    allocate(&p, config);
    bind_all(&p, &(ParamBinder){.table = &table});
    transformer_free(&p);
    return table;
}

void transformer_init(Transformer *p, const ModelConfig *config, real *slab) {
    allocate(p, config);
    bind_all(p, &(ParamBinder){.slab = slab});
}

void transformer_free(Transformer *p) {
    memory_free(p->encoder.layer);
    memory_free(p->decoder.layer);
    *p = (Transformer){0};
}

void transformer_positions_init(TransformerPositions *t, const ModelConfig *config) {
    positions_init(&t->source, POSITION_CACHE_ROWS, config->encoder_width);
    positions_init(&t->target, POSITION_CACHE_ROWS, config->decoder_width);
}

void transformer_positions_free(TransformerPositions *t) {
    positions_free(&t->source);
    positions_free(&t->target);
}

void transformer_forward(TransformerActs *a, const Batch *b, const Transformer *p, const TransformerPositions *t,
                         const DropoutDraw *draw, Arena *acts) {
    const DropoutRates *rates = &p->config.dropout;
    Dropout source_drop = dropout_draw(draw, rates, 0, &b->source, b->index, acts);
    Dropout target_drop = dropout_draw(draw, rates, 1, &b->target, b->index, acts);
    encoder_forward(&a->encoder, b->source_ids, &b->source, &p->encoder, &t->source, source_drop, acts); /* 1 */
    decoder_forward(&a->decoder, b->target_in, a->encoder.memory, &b->target, &b->source, &p->decoder, &t->target,
                    target_drop, acts); /* 2 */
}

/* Forward     memory = encoder(source),  hidden = decoder(target_in, memory)
 * Given       dhidden.   Wanted  all parameters' gradients.
 * Derivation  2 then 1. The encoder's output fans out to every decoder layer's cross-attention, through keys and through
 *             values: dmemory starts at zero and collects all of them before it goes down into the encoder.
 * Saved       by the parts. */
void transformer_backward(Transformer *dp, real *dhidden, const Batch *b, const TransformerActs *a,
                          const Transformer *p, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    int M = packed_rows(&b->source), D_enc = p->config.encoder_width;
    real *dmemory = arena_reals(scratch, "memory", M, D_enc);
    for (int m = 0; m < M; m++) vec_fill(dmemory + (size_t)m * D_enc, 0, D_enc);
    decoder_backward(&dp->decoder, dmemory, dhidden, b->target_in, &b->target, &b->source, &a->decoder, &p->decoder,
                     scratch);                                                                             /* 2 */
    encoder_backward(&dp->encoder, dmemory, b->source_ids, &b->source, &a->encoder, &p->encoder, scratch); /* 1 */
    arena_release(scratch, mark);
}

/* Runs the output layer over equal chunks of rows; with dp and dhidden also its backward, chunk by chunk. */
static LossSums loss_over_chunks(real *row_nll, Transformer *dp, real *dhidden, const real *hidden, const int *targets,
                                 const Transformer *p, int N, double smoothing, double scale, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int D = p->output.in, chunks = (N + LOSS_CHUNK_ROWS - 1) / LOSS_CHUNK_ROWS, most = (N + chunks - 1) / chunks;
    LossActs a = loss_acts(most, p->output.out, arena);
    LossSums sums = {0};
    for (int n = 0; n < N; n += most) {
        int C = N - n < most ? N - n : most;
        const real *h = hidden + (size_t)n * D;
        loss_forward(&sums, row_nll ? row_nll + n : NULL, &a, h, targets + n, &p->output, smoothing, C);
        if (dp != NULL)
            loss_backward(dhidden + (size_t)n * D, &dp->output, &a, h, targets + n, &p->output, smoothing, scale, C);
    }
    arena_release(arena, mark);
    return sums;
}

LossSums transformer_loss(real *row_nll, const Batch *b, const Transformer *p, const TransformerPositions *t,
                          double smoothing, const DropoutDraw *draw, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    TransformerActs a;
    transformer_forward(&a, b, p, t, draw, arena);
    LossSums sums = loss_over_chunks(row_nll, NULL, NULL, a.decoder.hidden, b->target_out, p, packed_rows(&b->target),
                                     smoothing, 0, arena);
    arena_release(arena, mark);
    return sums;
}

LossSums transformer_gradient(Transformer *dp, const Batch *b, const Transformer *p, const TransformerPositions *t,
                              double smoothing, double scale, const DropoutDraw *draw, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int N = packed_rows(&b->target);
    TransformerActs a;
    transformer_forward(&a, b, p, t, draw, arena);
    real *dhidden = arena_reals(arena, "hidden", N, p->output.in);
    LossSums sums = loss_over_chunks(NULL, dp, dhidden, a.decoder.hidden, b->target_out, p, N, smoothing, scale, arena);
    transformer_backward(dp, dhidden, b, &a, p, arena);
    arena_release(arena, mark);
    return sums;
}

/* Both passes over the piece, then their loss over equal chunks of rows; with dp and dhidden also its backward. */
static LossSums rdrop_passes(TransformerActs a[2], Transformer *dp, real *const dhidden[2], const Batch *b,
                             const Transformer *p, const TransformerPositions *t, double smoothing, double alpha,
                             double scale, const DropoutDraw *draw, Arena *arena) {
    int N = packed_rows(&b->target), D = p->output.in;
    for (int copy = 0; copy < 2; copy++) {
        DropoutDraw pass = *draw;
        pass.copy = copy;
        transformer_forward(&a[copy], b, p, t, &pass, arena);
    }
    ArenaMark mark = arena_mark(arena);
    int chunks = (N + LOSS_CHUNK_ROWS - 1) / LOSS_CHUNK_ROWS, most = (N + chunks - 1) / chunks;
    RDropActs acts = rdrop_acts(most, p->output.out, arena);
    LossSums sums = {0};
    for (int n = 0; n < N; n += most) {
        int C = N - n < most ? N - n : most, *targets = b->target_out + n;
        size_t start = (size_t)n * D;
        const real *h[2] = {a[0].decoder.hidden + start, a[1].decoder.hidden + start};
        rdrop_forward(&sums, &acts, h, targets, &p->output, smoothing, alpha, C);
        if (dp != NULL)
            rdrop_backward((real *[]){dhidden[0] + start, dhidden[1] + start}, &dp->output, &acts, h, targets,
                           &p->output, smoothing, alpha, scale, C);
    }
    arena_release(arena, mark);
    return sums;
}

LossSums transformer_rdrop_loss(const Batch *b, const Transformer *p, const TransformerPositions *t, double smoothing,
                                double alpha, const DropoutDraw *draw, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    TransformerActs a[2];
    LossSums sums = rdrop_passes(a, NULL, NULL, b, p, t, smoothing, alpha, 0, draw, arena);
    arena_release(arena, mark);
    return sums;
}

LossSums transformer_rdrop_gradient(Transformer *dp, const Batch *b, const Transformer *p,
                                    const TransformerPositions *t, double smoothing, double alpha, double scale,
                                    const DropoutDraw *draw, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int N = packed_rows(&b->target), D = p->output.in;
    TransformerActs a[2];
    real *dhidden[2] = {arena_reals(arena, "hidden", N, D), arena_reals(arena, "hidden", N, D)};
    LossSums sums = rdrop_passes(a, dp, dhidden, b, p, t, smoothing, alpha, scale, draw, arena);
    for (int copy = 0; copy < 2; copy++) transformer_backward(dp, dhidden[copy], b, &a[copy], p, arena);
    arena_release(arena, mark);
    return sums;
}

void transformer_logits(real *logits, const Batch *b, const Transformer *p, const TransformerPositions *t,
                        Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    TransformerActs a;
    transformer_forward(&a, b, p, t, NULL, arena);
    linear_forward(logits, a.decoder.hidden, &p->output, packed_rows(&b->target));
    arena_release(arena, mark);
}
