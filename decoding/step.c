#include "decoding/step.h"

#include <string.h>

#include "decoding/cached_attention.h"
#include "decoding/encode.h"

StepCache step_begin(const StepModel *m, const int *source_ids, Packed source, int width, int capacity, Arena *arena) {
    AttentionShape shape = {m->p->config.heads, m->p->config.d_k, m->p->config.d_v};
    StepCache cache = step_cache_new(source, width, capacity, m->p->decoder.layers, shape, arena);
    encode_sources(&cache, m, source_ids, arena);
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

/* decoder_layer_forward for one token a row; x [rows,D] in place. */
static void layer_step(real *x, const StepModel *m, int layer, StepCache *cache, const StepRows *rows,
                       const StepPaths *paths, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const DropoutSite off = {0};
    const DecoderLayer *p = &m->p->decoder.layer[layer];
    const PackedDecoderLayer *w = &m->decoder[layer];
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
    packed_feed_forward(f, in, &w->fc1, &w->fc2, p->ffn.activation, N, scratch);
    residual_leave(u, &unused, x, f, &p->ffn_residual, N, &off, scratch);
    memcpy(x, u, (size_t)N * (size_t)D * sizeof(real));
    arena_release(scratch, mark);
}

/* All of the step but the output layer, into the arena: [rows,D]. */
static real *step_hidden(StepCache *cache, const StepModel *m, const StepRows *rows, Arena *arena) {
    const Decoder *d = &m->p->decoder;
    int D = d->embedding.width, N = rows->count;
    StepPaths paths = step_paths(cache, rows, arena);
    real *x = arena_reals(arena, "decoder embedding", N, D);
    for (int r = 0; r < N; r++) {
        int offset[2] = {0, 1};
        embedding_forward(x + (size_t)r * D, &rows->token[r].id, &(Packed){1, offset}, paths.keys[r] - 1, &d->embedding,
                          &m->positions->target, NULL);
    }
    for (int l = 0; l < d->layers; l++) layer_step(x, m, l, cache, rows, &paths, arena);
    real *hidden = x;
    if (d->has_norm) {
        hidden = arena_reals(arena, "hidden", N, D);
        layer_norm_forward(hidden, NULL, x, &d->norm, N, NULL);
    }
    return hidden;
}

void step_forward(Logits *logits, StepCache *cache, const StepModel *m, const StepRows *rows, Arena *arena) {
    step_cache_append(cache, rows, arena); /* what it takes stays */
    ArenaMark mark = arena_mark(arena);
    logits_forward(logits, step_hidden(cache, m, rows, arena), &m->output, rows->count, arena);
    arena_release(arena, mark);
}

void step_forward_largest(Logits *logits, int first_allowed, StepCache *cache, const StepModel *m, const StepRows *rows,
                          Arena *arena) {
    if (rows->count > 1 && !BYTE_PRODUCTS_ARE_FAST) {
        step_forward(logits, cache, m, rows, arena);
        return;
    }
    step_cache_append(cache, rows, arena);
    ArenaMark mark = arena_mark(arena);
    const real *hidden = step_hidden(cache, m, rows, arena);
    shortlist_logits(logits, hidden, &m->shortlist, &m->output, rows->count, first_allowed, arena);
    arena_release(arena, mark);
}
