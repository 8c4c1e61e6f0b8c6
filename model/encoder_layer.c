#include "model/encoder_layer.h"

void encoder_layer_bind(EncoderLayer *p, ParamBinder *binder, const ModelConfig *c) {
    int D = c->encoder_width;
    attention_bind(&p->self_attn, binder, "self_attn", (AttentionShape){c->heads, c->d_k, c->d_v}, D, D);
    residual_bind(&p->self_attn_residual, binder, "self_attn_layer_norm", D, c->norm);
    feedforward_bind(&p->ffn, binder, D, c->ffn_dim, c->activation);
    residual_bind(&p->ffn_residual, binder, "final_layer_norm", D, c->norm);
}

void encoder_layer_forward(real *y, EncoderLayerActs *a, const real *x, const EncoderLayer *p, int N,
                           const AttentionSpans *spans, const Dropout *drop, int layer, Arena *acts) {
    int D = p->ffn.fc1.in;
    DropoutSites at = dropout_sites(drop, layer);
    real *f = arena_reals(acts, "sublayer output", N, D);
    real *u = arena_reals(acts, "after self-attention", N, D);

    const real *in = residual_enter(&a->self_attn_residual, x, &p->self_attn_residual, N, acts);
    attention_forward(f, &a->self_attn, in, in, &p->self_attn, N, N, spans, &at.self_weights, acts); /* 1 */
    residual_leave(u, &a->self_attn_residual, x, f, &p->self_attn_residual, N, &at.after_self, acts);

    in = residual_enter(&a->ffn_residual, u, &p->ffn_residual, N, acts);
    feedforward_forward(f, &a->ffn, in, &p->ffn, N, &at.inner, acts); /* 2 */
    residual_leave(y, &a->ffn_residual, u, f, &p->ffn_residual, N, &at.after_ffn, acts);
}

/* Forward     u = residual(x, self_attn),  y = residual(u, ffn)
 * Given       dy.   Wanted  dx and the parameters' gradients.
 * Derivation  Last step first. In each residual, du (then dx) starts as what came past the sublayer and has what came
 *             through it added: the fan-out derived in residual.c.
 * Saved       by the parts. */
void encoder_layer_backward(real *dx, EncoderLayer *dp, const real *dy, const EncoderLayerActs *a,
                            const EncoderLayer *p, int N, const AttentionSpans *spans, const Dropout *drop, int layer,
                            Arena *scratch) {
    int D = p->ffn.fc1.in;
    DropoutSites at = dropout_sites(drop, layer);
    ArenaMark mark = arena_mark(scratch);
    real *df = arena_reals(scratch, "sublayer output", N, D);
    real *din = arena_reals(scratch, "sublayer input", N, D);
    real *du = arena_reals(scratch, "after self-attention", N, D);

    residual_leave_backward(du, df, &dp->ffn_residual, dy, &a->ffn_residual, &p->ffn_residual, N,
                            &at.after_ffn); /* 2 */
    feedforward_backward(din, &dp->ffn, df, &a->ffn, &p->ffn, N, &at.inner, scratch);
    residual_enter_backward(du, din, &dp->ffn_residual, &a->ffn_residual, &p->ffn_residual, N);

    residual_leave_backward(dx, df, &dp->self_attn_residual, du, &a->self_attn_residual, &p->self_attn_residual, N,
                            &at.after_self); /* 1 */
    attention_backward(din, NULL, &dp->self_attn, df, &a->self_attn, &p->self_attn, N, N, spans, &at.self_weights,
                       scratch);
    residual_enter_backward(dx, din, &dp->self_attn_residual, &a->self_attn_residual, &p->self_attn_residual, N);
    arena_release(scratch, mark);
}
