#include "decoding/encode.h"

#include <string.h>

#include "model/tile.h"

enum { QUERIES = 256 }; /* that attend together: the weights of a long sentence never exist at once */

/* Sentence by sentence, all keys for every query. */
static void attend(real *context, HeadRows q, HeadRows k, HeadRows v, AttentionShape s, const Packed *rows,
                   Arena *scratch) {
    for (int i = 0; i < rows->sentences; i++) {
        int first = rows->offset[i], end = rows->offset[i + 1];
        for (int n = first; n < end; n += QUERIES) {
            ArenaMark mark = arena_mark(scratch);
            AttentionSpan span = {n, end - n < QUERIES ? end - n : QUERIES, first, end - first, false};
            AttentionCoreActs unused;
            attention_core_forward(context, &unused, q, k, v, s, &(AttentionSpans){1, &span}, &(DropoutSite){0},
                                   scratch);
            arena_release(scratch, mark);
        }
    }
}

static void self_attention(real *f, const real *in, const PackedEncoderLayer *w, AttentionShape s, int N,
                           const Packed *rows, Arena *scratch) {
    int HK = s.heads * s.d_k, HV = s.heads * s.d_v, stride = 2 * HK + HV;
    real *qkv = arena_reals(scratch, "q, k, v", N, stride), *context = arena_reals(scratch, "context", N, HV);
    packed_linear_forward(qkv, in, &w->self_qkv, N);
    attend(context, (HeadRows){qkv, stride}, (HeadRows){qkv + HK, stride}, (HeadRows){qkv + 2 * HK, stride}, s, rows,
           scratch);
    packed_linear_forward(f, context, &w->self_out, N);
}

/* encoder_layer_forward; x [N,D] in place. */
static void encode_layer(real *x, const EncoderLayer *p, const PackedEncoderLayer *w, const Packed *rows,
                         Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const DropoutSite off = {0};
    int N = packed_rows(rows), D = w->fc1.in;
    real *f = arena_reals(scratch, "sublayer output", N, D), *u = arena_reals(scratch, "u", N, D);
    ResidualActs unused;
    const real *in = residual_enter(&unused, x, &p->self_attn_residual, N, scratch);
    self_attention(f, in, w, p->self_attn.shape, N, rows, scratch);
    residual_leave(u, &unused, x, f, &p->self_attn_residual, N, &off, scratch);

    in = residual_enter(&unused, u, &p->ffn_residual, N, scratch);
    packed_feed_forward(f, in, &w->fc1, &w->fc2, p->ffn.activation, N, scratch);
    residual_leave(x, &unused, u, f, &p->ffn_residual, N, &off, scratch);
    arena_release(scratch, mark);
}

void encode(real *memory, const StepModel *m, const int *ids, const Packed *rows, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const Encoder *e = &m->p->encoder;
    int N = packed_rows(rows), D = e->embedding.width;
    real *x = e->has_norm ? arena_reals(scratch, "encoder layer output", N, D) : memory;
    embedding_forward(x, ids, rows, 0, &e->embedding, &m->positions->source, NULL);
    for (int l = 0; l < e->layers; l++) encode_layer(x, &e->layer[l], &m->encoder[l], rows, scratch);
    if (e->has_norm) layer_norm_forward(memory, NULL, x, &e->norm, N, NULL);
    arena_release(scratch, mark);
}

/* Keys transposed sentence by sentence, values as they are, from kv [rows, H K + H Vd]. */
static void keep_source(SourceCache *to, const StepCache *cache, const real *kv) {
    int HK = cache->shape.heads * cache->shape.d_k, HV = cache->shape.heads * cache->shape.d_v, width = HK + HV;
    for (int s = 0; s < cache->source.sentences; s++) {
        int first = cache->source.offset[s], m = packed_length(&cache->source, s);
        tile_transpose(to->k_t + (size_t)cache->padded[s] * HK, tile_pad(m), kv + (size_t)first * width, width, m, HK);
        for (int i = first; i < first + m; i++)
            memcpy(to->v + (size_t)i * HV, kv + (size_t)i * width + HK, (size_t)HV * sizeof(real));
    }
}

void encode_sources(StepCache *cache, const StepModel *m, const int *ids, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    int N = packed_rows(&cache->source);
    real *memory = arena_reals(scratch, "memory", N, m->p->config.encoder_width);
    encode(memory, m, ids, &cache->source, scratch);
    real *kv = arena_reals(scratch, "source keys, values", N, m->decoder->cross_kv.out);
    for (int l = 0; l < cache->layers; l++) {
        packed_linear_forward(kv, memory, &m->decoder[l].cross_kv, N);
        keep_source(&cache->of_source[l], cache, kv);
    }
    arena_release(scratch, mark);
}
