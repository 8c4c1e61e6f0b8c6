#include "decoding/step.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

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

/* Keys and values of the cross-attention of every layer, for the source sentence of slot s. */
static void encode_slot(StepCache *cache, const StepModel *m, const int *ids, int s, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int offset[2] = {0, packed_length(&cache->source, s)};
    Packed one = {1, offset};
    EncoderActs a;
    encoder_forward(&a, ids + cache->source.offset[s], &one, &m->p->encoder, &m->positions->source, (Dropout){0},
                    arena);
    for (int l = 0; l < m->p->decoder.layers; l++) {
        const Attention *attn = &m->p->decoder.layer[l].encoder_attn;
        Linear kv = attention_joined(&attn->k_proj, attn->k_proj.out + attn->v_proj.out);
        linear_forward(cache->layer[l].cross_kv + (size_t)cache->source.offset[s] * kv.out, a.memory, &kv, offset[1]);
    }
    arena_release(arena, mark);
}

StepCache step_begin(const StepModel *m, const int *source_ids, Packed source, int capacity, Arena *arena) {
    int layers = m->p->decoder.layers, rows = source.sentences * capacity;
    AttentionShape s = {m->p->config.heads, m->p->config.d_k, m->p->config.d_v};
    int HK = s.heads * s.d_k, HV = s.heads * s.d_v;
    StepCache cache = {.slots = source.sentences, .capacity = capacity, .source = source};
    cache.length = arena_array(arena, int, "lengths", source.sentences);
    memset(cache.length, 0, (size_t)source.sentences * sizeof(int));
    cache.layer = arena_array(arena, LayerCache, "layer caches", layers);
    for (int l = 0; l < layers; l++)
        cache.layer[l] =
            (LayerCache){arena_reals(arena, "cached keys", rows, HK), arena_reals(arena, "cached values", rows, HV),
                         arena_reals(arena, "source keys, values", packed_rows(&source), HK + HV)};
    for (int i = 0; i < source.sentences; i++) encode_slot(&cache, m, source_ids, i, arena);
    return cache;
}

/* Self-attention of one row a slot: its key and value join the cache, then it attends to all of the slot's. */
static void self_attention(real *f, const real *in, const PackedDecoderLayer *w, AttentionShape s, LayerCache *kv,
                           const StepCache *cache, const int *slot, int rows, Arena *scratch) {
    int HK = s.heads * s.d_k, HV = s.heads * s.d_v, stride = 2 * HK + HV;
    real *qkv = arena_reals(scratch, "q, k, v", rows, stride);
    real *context = arena_reals(scratch, "context", rows, HV);
    AttentionSpans spans = {rows, arena_array(scratch, AttentionSpan, "spans", rows)};
    packed_linear_forward(qkv, in, &w->self_qkv, rows);
    for (int r = 0; r < rows; r++) {
        int first = slot[r] * cache->capacity, here = first + cache->length[slot[r]];
        const real *qkv_r = qkv + (size_t)r * stride;
        memcpy(kv->self_k + (size_t)here * HK, qkv_r + HK, (size_t)HK * sizeof(real));
        memcpy(kv->self_v + (size_t)here * HV, qkv_r + 2 * HK, (size_t)HV * sizeof(real));
        spans.span[r] = (AttentionSpan){r, 1, first, here - first + 1, true};
    }
    AttentionCoreActs unused;
    attention_core_forward(context, &unused, (HeadRows){qkv, stride}, (HeadRows){kv->self_k, HK},
                           (HeadRows){kv->self_v, HV}, s, &spans, &(DropoutSite){0}, scratch);
    packed_linear_forward(f, context, &w->self_out, rows);
}

static void cross_attention(real *f, const real *in, const PackedDecoderLayer *w, AttentionShape s,
                            const LayerCache *kv, const StepCache *cache, const int *slot, int rows, Arena *scratch) {
    int HK = s.heads * s.d_k, HV = s.heads * s.d_v;
    real *q = arena_reals(scratch, "q", rows, HK);
    real *context = arena_reals(scratch, "context", rows, HV);
    AttentionSpans spans = {rows, arena_array(scratch, AttentionSpan, "spans", rows)};
    packed_linear_forward(q, in, &w->cross_q, rows);
    for (int r = 0; r < rows; r++)
        spans.span[r] =
            (AttentionSpan){r, 1, cache->source.offset[slot[r]], packed_length(&cache->source, slot[r]), false};
    AttentionCoreActs unused;
    attention_core_forward(context, &unused, (HeadRows){q, HK}, (HeadRows){kv->cross_kv, HK + HV},
                           (HeadRows){kv->cross_kv + HK, HK + HV}, s, &spans, &(DropoutSite){0}, scratch);
    packed_linear_forward(f, context, &w->cross_out, rows);
}

static void feed_forward(real *f, const real *in, const PackedDecoderLayer *w, Activation activation, int rows,
                         Arena *scratch) {
    real *h = arena_reals(scratch, "ffn hidden", rows, w->fc1.out);
    real *r = arena_reals(scratch, "ffn activated", rows, w->fc1.out);
    packed_linear_forward(h, in, &w->fc1, rows);
    activation_forward(r, h, activation, rows, w->fc1.out);
    packed_linear_forward(f, r, &w->fc2, rows);
}

/* decoder_layer_forward for one row a slot; x [rows,D] in place. */
static void layer_step(real *x, const DecoderLayer *p, const PackedDecoderLayer *w, LayerCache *kv,
                       const StepCache *cache, const int *slot, int rows, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const DropoutSite off = {0};
    AttentionShape s = p->self_attn.shape;
    int D = w->fc1.in;
    real *f = arena_reals(scratch, "sublayer output", rows, D), *u = arena_reals(scratch, "u", rows, D);
    ResidualActs unused;
    const real *in = residual_enter(&unused, x, &p->self_attn_residual, rows, scratch);
    self_attention(f, in, w, s, kv, cache, slot, rows, scratch);
    residual_leave(u, &unused, x, f, &p->self_attn_residual, rows, &off, scratch);

    in = residual_enter(&unused, u, &p->encoder_attn_residual, rows, scratch);
    cross_attention(f, in, w, s, kv, cache, slot, rows, scratch);
    residual_leave(x, &unused, u, f, &p->encoder_attn_residual, rows, &off, scratch);

    in = residual_enter(&unused, x, &p->ffn_residual, rows, scratch);
    feed_forward(f, in, w, p->ffn.activation, rows, scratch);
    residual_leave(u, &unused, x, f, &p->ffn_residual, rows, &off, scratch);
    memcpy(x, u, (size_t)rows * (size_t)D * sizeof(real));
    arena_release(scratch, mark);
}

void step_forward(real *logits, StepCache *cache, const StepModel *m, const int *slot, const int *ids, int rows,
                  Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const Decoder *d = &m->p->decoder;
    int D = d->embedding.width;
    real *x = arena_reals(scratch, "decoder embedding", rows, D);
    for (int r = 0; r < rows; r++) {
        assert(cache->length[slot[r]] < cache->capacity);
        int offset[2] = {0, 1};
        embedding_forward(x + (size_t)r * D, ids + r, &(Packed){1, offset}, cache->length[slot[r]], &d->embedding,
                          &m->positions->target);
    }
    for (int l = 0; l < d->layers; l++)
        layer_step(x, &d->layer[l], &m->layer[l], &cache->layer[l], cache, slot, rows, scratch);
    real *hidden = x;
    if (d->has_norm) {
        hidden = arena_reals(scratch, "hidden", rows, D);
        layer_norm_forward(hidden, NULL, x, &d->norm, rows, NULL);
    }
    packed_linear_forward(logits, hidden, &m->output, rows);
    for (int r = 0; r < rows; r++) cache->length[slot[r]]++;
    arena_release(scratch, mark);
}
