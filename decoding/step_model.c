#include "decoding/step_model.h"

#include "base/memory.h"

/* Projections that read the same input lie behind each other, and are one layer. */
static void pack_joined(PackedLinear *packed, const Linear *first, int out) {
    Linear joined = attention_joined(first, out);
    packed_linear_init(packed, &joined);
}

static void pack_encoder_layer(PackedEncoderLayer *to, const EncoderLayer *from) {
    AttentionShape s = from->self_attn.shape;
    pack_joined(&to->self_qkv, &from->self_attn.q_proj, s.heads * (2 * s.d_k + s.d_v));
    packed_linear_init(&to->self_out, &from->self_attn.out_proj);
    packed_linear_init(&to->fc1, &from->ffn.fc1);
    packed_linear_init(&to->fc2, &from->ffn.fc2);
}

static void pack_decoder_layer(PackedDecoderLayer *to, const DecoderLayer *from) {
    AttentionShape s = from->self_attn.shape;
    pack_joined(&to->self_qkv, &from->self_attn.q_proj, s.heads * (2 * s.d_k + s.d_v));
    packed_linear_init(&to->self_out, &from->self_attn.out_proj);
    packed_linear_init(&to->cross_q, &from->encoder_attn.q_proj);
    pack_joined(&to->cross_kv, &from->encoder_attn.k_proj, s.heads * (s.d_k + s.d_v));
    packed_linear_init(&to->cross_out, &from->encoder_attn.out_proj);
    packed_linear_init(&to->fc1, &from->ffn.fc1);
    packed_linear_init(&to->fc2, &from->ffn.fc2);
}

void step_model_init(StepModel *m, const Transformer *p, const TransformerPositions *positions) {
    *m = (StepModel){.p = p, .positions = positions};
    m->encoder = memory_alloc((size_t)p->encoder.layers, sizeof *m->encoder, "packed encoder layers");
    m->decoder = memory_alloc((size_t)p->decoder.layers, sizeof *m->decoder, "packed decoder layers");
    for (int l = 0; l < p->encoder.layers; l++) pack_encoder_layer(&m->encoder[l], &p->encoder.layer[l]);
    for (int l = 0; l < p->decoder.layers; l++) pack_decoder_layer(&m->decoder[l], &p->decoder.layer[l]);
    packed_linear_init(&m->output, &p->output);
    shortlist_init(&m->shortlist, &p->output);
}

static void free_all(PackedLinear *first, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *first; i++) packed_linear_free(&first[i]);
}

/* The layers' structs hold nothing but packed linear layers. */
void step_model_free(StepModel *m) {
    if (m->p == NULL) return;
    free_all((PackedLinear *)m->encoder, (size_t)m->p->encoder.layers * sizeof *m->encoder);
    free_all((PackedLinear *)m->decoder, (size_t)m->p->decoder.layers * sizeof *m->decoder);
    packed_linear_free(&m->output);
    shortlist_free(&m->shortlist);
    memory_free(m->encoder);
    memory_free(m->decoder);
    *m = (StepModel){0};
}

void packed_feed_forward(real *y, const real *x, const PackedLinear *fc1, const PackedLinear *fc2,
                         Activation activation, int N, Arena *scratch) {
    real *h = arena_reals(scratch, "ffn hidden", N, fc1->out);
    real *r = arena_reals(scratch, "ffn activated", N, fc1->out);
    packed_linear_forward(h, x, fc1, N);
    activation_forward(r, h, activation, N, fc1->out);
    packed_linear_forward(y, r, fc2, N);
}
