#include "decoding/step.h"

#include <string.h>

#include "base/memory.h"
#include "decoding/cached_attention.h"
#include "model/tile.h"

void step_model_init(StepModel *m, const Transformer *p, const TransformerPositions *positions) {
    const Decoder *d = &p->decoder;
    *m = (StepModel){.p = p, .positions = positions};
    m->layer = memory_alloc((size_t)d->layers, sizeof *m->layer, "packed decoder layers");
    for (int l = 0; l < d->layers; l++) {
        const DecoderLayer *from = &d->layer[l];
        PackedDecoderLayer *to = &m->layer[l];
        AttentionShape s = from->self_attn.shape;
        Linear qkv = attention_joined(&from->self_attn.q_proj, s.heads * (2 * s.d_k + s.d_v));
        packed_linear_init(&to->self_qkv, &qkv);
        packed_linear_init(&to->self_out, &from->self_attn.out_proj);
        packed_linear_init(&to->cross_q, &from->encoder_attn.q_proj);
        packed_linear_init(&to->cross_out, &from->encoder_attn.out_proj);
        packed_linear_init(&to->fc1, &from->ffn.fc1);
        packed_linear_init(&to->fc2, &from->ffn.fc2);
    }
    packed_linear_init(&m->output, &p->output);
}

void step_model_free(StepModel *m) {
    for (int l = 0; m->p != NULL && l < m->p->decoder.layers; l++) {
        PackedDecoderLayer *layer = &m->layer[l];
        packed_linear_free(&layer->self_qkv);
        packed_linear_free(&layer->self_out);
        packed_linear_free(&layer->cross_q);
        packed_linear_free(&layer->cross_out);
        packed_linear_free(&layer->fc1);
        packed_linear_free(&layer->fc2);
    }
    packed_linear_free(&m->output);
    memory_free(m->layer);
    *m = (StepModel){0};
}

/* Keys and values of the cross-attention of every layer, for sentence s. */
static void encode_sentence(StepCache *cache, const StepModel *m, const int *ids, int s, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int offset[2] = {0, packed_length(&cache->source, s)}, rows = offset[1],
        M = cache->padded[s + 1] - cache->padded[s];
    int HK = cache->shape.heads * cache->shape.d_k, HV = cache->shape.heads * cache->shape.d_v;
    Packed one = {1, offset};
    EncoderActs a;
    encoder_forward(&a, ids + cache->source.offset[s], &one, &m->p->encoder, &m->positions->source, (Dropout){0},
                    arena);
    real *kv = arena_reals(arena, "source keys, values", rows, HK + HV);
    for (int l = 0; l < cache->layers; l++) {
        Linear kv_proj = attention_joined(&m->p->decoder.layer[l].encoder_attn.k_proj, HK + HV);
        linear_forward(kv, a.memory, &kv_proj, rows);
        tile_transpose(cache->of_source[l].k_t + (size_t)cache->padded[s] * HK, M, kv, HK + HV, rows, HK);
        real *v = cache->of_source[l].v + (size_t)cache->source.offset[s] * HV;
        for (int i = 0; i < rows; i++)
            memcpy(v + (size_t)i * HV, kv + (size_t)i * (HK + HV) + HK, (size_t)HV * sizeof(real));
    }
    arena_release(arena, mark);
}

StepCache step_begin(const StepModel *m, const int *source_ids, Packed source, int width, int capacity, Arena *arena) {
    AttentionShape shape = {m->p->config.heads, m->p->config.d_k, m->p->config.d_v};
    StepCache cache = step_cache_new(source, width, capacity, m->p->decoder.layers, shape, arena);
    for (int s = 0; s < source.sentences; s++) encode_sentence(&cache, m, source_ids, s, arena);
    return cache;
}

/* The keys and values of the rows join the cache, then each row attends to its path. */
static void self_attention(real *f, const real *in, const PackedDecoderLayer *w, StepCache *cache, int layer,
                           const StepRows *rows, const StepPaths *paths, Arena *scratch) {
    int HK = cache->shape.heads * cache->shape.d_k, HV = cache->shape.heads * cache->shape.d_v, stride = 2 * HK + HV;
    real *qkv = arena_reals(scratch, "q, k, v", rows->count, stride);
    real *context = arena_reals(scratch, "context", rows->count, HV);
    packed_linear_forward(qkv, in, &w->self_qkv, rows->count);
    for (int r = 0; r < rows->count; r++) {
        int place = paths->keys[r] - 1;
        const StepChunk *chunk = &cache->chunk[place / STEP_CHUNK];
        size_t row = step_row(cache, place, rows->slot[r]);
        const real *qkv_r = qkv + (size_t)r * stride;
        memcpy(chunk->k[layer] + row * HK, qkv_r + HK, (size_t)HK * sizeof(real));
        memcpy(chunk->v[layer] + row * HV, qkv_r + 2 * HK, (size_t)HV * sizeof(real));
    }
    cached_self_attention(context, qkv, stride, cache, layer, paths, rows->count, scratch);
    packed_linear_forward(f, context, &w->self_out, rows->count);
}

static void cross_attention(real *f, const real *in, const PackedDecoderLayer *w, const StepCache *cache, int layer,
                            const StepRows *rows, Arena *scratch) {
    real *q = arena_reals(scratch, "q", rows->count, cache->shape.heads * cache->shape.d_k);
    real *context = arena_reals(scratch, "context", rows->count, cache->shape.heads * cache->shape.d_v);
    packed_linear_forward(q, in, &w->cross_q, rows->count);
    cached_cross_attention(context, q, cache, layer, rows, scratch);
    packed_linear_forward(f, context, &w->cross_out, rows->count);
}

static void feed_forward(real *f, const real *in, const PackedDecoderLayer *w, Activation activation, int rows,
                         Arena *scratch) {
    real *h = arena_reals(scratch, "ffn hidden", rows, w->fc1.out);
    real *r = arena_reals(scratch, "ffn activated", rows, w->fc1.out);
    packed_linear_forward(h, in, &w->fc1, rows);
    activation_forward(r, h, activation, rows, w->fc1.out);
    packed_linear_forward(f, r, &w->fc2, rows);
}

/* decoder_layer_forward for one token a row; x [rows,D] in place. */
static void layer_step(real *x, const StepModel *m, int layer, StepCache *cache, const StepRows *rows,
                       const StepPaths *paths, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const DropoutSite off = {0};
    const DecoderLayer *p = &m->p->decoder.layer[layer];
    const PackedDecoderLayer *w = &m->layer[layer];
    int N = rows->count, D = w->fc1.in;
    real *f = arena_reals(scratch, "sublayer output", N, D), *u = arena_reals(scratch, "u", N, D);
    ResidualActs unused;
    const real *in = residual_enter(&unused, x, &p->self_attn_residual, N, scratch);
    self_attention(f, in, w, cache, layer, rows, paths, scratch);
    residual_leave(u, &unused, x, f, &p->self_attn_residual, N, &off, scratch);

    in = residual_enter(&unused, u, &p->encoder_attn_residual, N, scratch);
    cross_attention(f, in, w, cache, layer, rows, scratch);
    residual_leave(x, &unused, u, f, &p->encoder_attn_residual, N, &off, scratch);

    in = residual_enter(&unused, x, &p->ffn_residual, N, scratch);
    feed_forward(f, in, w, p->ffn.activation, N, scratch);
    residual_leave(u, &unused, x, f, &p->ffn_residual, N, &off, scratch);
    memcpy(x, u, (size_t)N * (size_t)D * sizeof(real));
    arena_release(scratch, mark);
}

void step_forward(real *logits, StepCache *cache, const StepModel *m, const StepRows *rows, Arena *arena) {
    step_cache_append(cache, rows, arena); /* what it takes stays */
    ArenaMark mark = arena_mark(arena);
    const Decoder *d = &m->p->decoder;
    int D = d->embedding.width, N = rows->count;
    StepPaths paths = step_paths(cache, rows, arena);
    real *x = arena_reals(arena, "decoder embedding", N, D);
    for (int r = 0; r < N; r++) {
        int offset[2] = {0, 1};
        embedding_forward(x + (size_t)r * D, &rows->token[r].id, &(Packed){1, offset}, paths.keys[r] - 1, &d->embedding,
                          &m->positions->target);
    }
    for (int l = 0; l < d->layers; l++) layer_step(x, m, l, cache, rows, &paths, arena);
    real *hidden = x;
    if (d->has_norm) {
        hidden = arena_reals(arena, "hidden", N, D);
        layer_norm_forward(hidden, NULL, x, &d->norm, N, NULL);
    }
    packed_linear_forward(logits, hidden, &m->output, N);
    arena_release(arena, mark);
}
