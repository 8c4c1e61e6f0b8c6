#include "model/decoder_layer.h"

#include "base/vec.h"

void decoder_layer_bind(DecoderLayer *p, ParamBinder *binder, const ModelConfig *c) {
    AttentionShape shape = {c->heads, c->d_k, c->d_v};
    int D = c->decoder_width;
    attention_bind(&p->self_attn, binder, "self_attn", shape, D, D);
    residual_bind(&p->self_attn_residual, binder, "self_attn_layer_norm", D, c->norm);
    attention_bind(&p->encoder_attn, binder, "encoder_attn", shape, D, c->encoder_width);
    residual_bind(&p->encoder_attn_residual, binder, "encoder_attn_layer_norm", D, c->norm);
    feedforward_bind(&p->ffn, binder, D, c->ffn_dim, c->activation);
    residual_bind(&p->ffn_residual, binder, "final_layer_norm", D, c->norm);
}

void decoder_layer_forward(real *y, DecoderLayerActs *a, const real *x, const real *memory, const DecoderLayer *p,
                           int N, int M, const DecoderSpans *spans, const Dropout *drop, int layer, Arena *acts) {
    int D = p->ffn.fc1.in;
    DropoutSites at = dropout_sites(drop, layer);
    real *f = arena_reals(acts, "sublayer output", N, D);
    real *u = arena_reals(acts, "after self-attention", N, D);
    real *w = arena_reals(acts, "after cross-attention", N, D);

    const real *in = residual_enter(&a->self_attn_residual, x, &p->self_attn_residual, N, acts);
    attention_forward(f, &a->self_attn, in, in, &p->self_attn, N, N, &spans->self, &at.self_weights, acts); /* 1 */
    residual_leave(u, &a->self_attn_residual, x, f, &p->self_attn_residual, N, &at.after_self, acts);

    in = residual_enter(&a->encoder_attn_residual, u, &p->encoder_attn_residual, N, acts);
    attention_forward(f, &a->encoder_attn, in, memory, &p->encoder_attn, N, M, &spans->cross, &at.cross_weights,
                      acts); /* 2 */
    residual_leave(w, &a->encoder_attn_residual, u, f, &p->encoder_attn_residual, N, &at.after_cross, acts);

    in = residual_enter(&a->ffn_residual, w, &p->ffn_residual, N, acts);
    feedforward_forward(f, &a->ffn, in, &p->ffn, N, &at.inner, acts); /* 3 */
    residual_leave(y, &a->ffn_residual, w, f, &p->ffn_residual, N, &at.after_ffn, acts);
}

/* Forward     u = residual(x, self_attn),  w = residual(u, encoder_attn over memory),  y = residual(w, ffn)
 * Given       dy.   Wanted  dx, the share of dmemory, and the parameters' gradients.
 * Derivation  Last step first, each residual with the fan-out derived in residual.c. memory is read by the
 *             cross-attention of every decoder layer, so its gradient is a sum over layers: each adds its share.
 * Saved       by the parts. */
void decoder_layer_backward(real *dx, real *dmemory, DecoderLayer *dp, const real *dy, const DecoderLayerActs *a,
                            const DecoderLayer *p, int N, int M, const DecoderSpans *spans, const Dropout *drop,
                            int layer, Arena *scratch) {
    int D = p->ffn.fc1.in, D_enc = p->encoder_attn.k_proj.in;
    DropoutSites at = dropout_sites(drop, layer);
    ArenaMark mark = arena_mark(scratch);
    real *df = arena_reals(scratch, "sublayer output", N, D);
    real *din = arena_reals(scratch, "sublayer input", N, D);
    real *du = arena_reals(scratch, "after self-attention", N, D);
    real *dw = arena_reals(scratch, "after cross-attention", N, D);
    real *dmemory_here = arena_reals(scratch, "memory", M, D_enc);

    residual_leave_backward(dw, df, &dp->ffn_residual, dy, &a->ffn_residual, &p->ffn_residual, N,
                            &at.after_ffn); /* 3 */
    feedforward_backward(din, &dp->ffn, df, &a->ffn, &p->ffn, N, &at.inner, scratch);
    residual_enter_backward(dw, din, &dp->ffn_residual, &a->ffn_residual, &p->ffn_residual, N);

    residual_leave_backward(du, df, &dp->encoder_attn_residual, dw, &a->encoder_attn_residual,
                            &p->encoder_attn_residual, N, &at.after_cross); /* 2 */
    attention_backward(din, dmemory_here, &dp->encoder_attn, df, &a->encoder_attn, &p->encoder_attn, N, M,
                       &spans->cross, &at.cross_weights, scratch);
    for (int m = 0; m < M; m++) vec_add(dmemory + (size_t)m * D_enc, dmemory_here + (size_t)m * D_enc, D_enc);
    residual_enter_backward(du, din, &dp->encoder_attn_residual, &a->encoder_attn_residual, &p->encoder_attn_residual,
                            N);

    residual_leave_backward(dx, df, &dp->self_attn_residual, du, &a->self_attn_residual, &p->self_attn_residual, N,
                            &at.after_self); /* 1 */
    attention_backward(din, NULL, &dp->self_attn, df, &a->self_attn, &p->self_attn, N, N, &spans->self,
                       &at.self_weights, scratch);
    residual_enter_backward(dx, din, &dp->self_attn_residual, &a->self_attn_residual, &p->self_attn_residual, N);
    arena_release(scratch, mark);
}
