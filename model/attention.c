#include "model/attention.h"

#include <assert.h>
#include <stdio.h>

static void bind(ParamBinder *binder, real **slot, const char *name, const char *part, int rank, int rows, int cols,
                 ParamRole role) {
    char full[64];
    snprintf(full, sizeof full, "%s.%s", name, part);
    param_bind(binder, slot, full, rank, rows, cols, role);
}

void attention_bind(Attention *p, ParamBinder *b, const char *name, AttentionShape shape, int width_q, int width_kv) {
    int HK = shape.heads * shape.d_k, HV = shape.heads * shape.d_v;
    char full[64];
    p->shape = shape;
    p->q_proj = (Linear){.in = width_q, .out = HK};
    p->k_proj = (Linear){.in = width_kv, .out = HK};
    p->v_proj = (Linear){.in = width_kv, .out = HV};
    bind(b, &p->q_proj.W, name, "q_proj.weight", 2, HK, width_q, PARAM_QKV_MATRIX);
    bind(b, &p->k_proj.W, name, "k_proj.weight", 2, HK, width_kv, PARAM_QKV_MATRIX);
    bind(b, &p->v_proj.W, name, "v_proj.weight", 2, HV, width_kv, PARAM_QKV_MATRIX);
    bind(b, &p->q_proj.b, name, "q_proj.bias", 1, 1, HK, PARAM_BIAS);
    bind(b, &p->k_proj.b, name, "k_proj.bias", 1, 1, HK, PARAM_BIAS);
    bind(b, &p->v_proj.b, name, "v_proj.bias", 1, 1, HV, PARAM_BIAS);
    snprintf(full, sizeof full, "%s.out_proj", name);
    linear_bind(&p->out_proj, b, full, HV, width_q);
}

Linear attention_joined(const Linear *first, int out) {
    return (Linear){.in = first->in, .out = out, .W = first->W, .b = first->b};
}

/* Where q, k and v of a row stand: [q k v] in one row when the input is one, else [q] and [k v]. */
typedef struct Projected {
    real *q, *k, *v;
    int q_stride, kv_stride;
} Projected;

static Projected projected_take(AttentionShape s, bool self, int Nq, int Nkv, Arena *arena) {
    int HK = s.heads * s.d_k, HV = s.heads * s.d_v;
    if (self) {
        real *qkv = arena_reals(arena, "q, k, v", Nq, 2 * HK + HV);
        return (Projected){qkv, qkv + HK, qkv + 2 * HK, 2 * HK + HV, 2 * HK + HV};
    }
    real *q = arena_reals(arena, "q", Nq, HK), *kv = arena_reals(arena, "k, v", Nkv, HK + HV);
    return (Projected){q, kv, kv + HK, HK, HK + HV};
}

void attention_forward(real *y, AttentionActs *a, const real *x_q, const real *x_kv, const Attention *p, int Nq,
                       int Nkv, const AttentionSpans *spans, const DropoutSite *drop, Arena *acts) {
    bool self = x_q == x_kv;
    Projected r = projected_take(p->shape, self, Nq, Nkv, acts);
    a->x_q = x_q;
    a->x_kv = x_kv;
    a->context = arena_reals(acts, "context", Nq, p->out_proj.in);
    if (self) { /* 1  q = x_q Wq' + bq,  k = x_kv Wk' + bk,  v = x_kv Wv' + bv */
        Linear qkv = attention_joined(&p->q_proj, r.q_stride);
        linear_forward(r.q, x_q, &qkv, Nq);
    } else {
        Linear kv = attention_joined(&p->k_proj, r.kv_stride);
        linear_forward(r.q, x_q, &p->q_proj, Nq);
        linear_forward(r.k, x_kv, &kv, Nkv);
    }
    attention_core_forward(a->context, &a->core, (HeadRows){r.q, r.q_stride}, (HeadRows){r.k, r.kv_stride},
                           (HeadRows){r.v, r.kv_stride}, p->shape, spans, drop, acts); /* 2  context = A V, all heads */
    linear_forward(y, a->context, &p->out_proj, Nq);                                   /* 3  y = context Wo' + bo     */
}

/* Forward     q = x_q Wq' + bq,  k = x_kv Wk' + bk,  v = x_kv Wv' + bv;  y = heads(q, k, v) Wo' + bo
 * Given       dy.   Wanted  dx_q, dx_kv and the parameters' gradients.
 * Derivation  Steps 3 and 2 by the chain rule give dq, dk, dv. x_kv fans out into k and v, so its gradient is a sum:
 *             dx_kv = dk Wk + dv Wv = [dk dv] [Wk; Wv]: one product with the joined weights does the sum.
 *             In self-attention x fans out three ways: dx = dq Wq + dk Wk + dv Wv = [dq dk dv] [Wq; Wk; Wv].
 * Saved       x_q, x_kv, q, k, v, the attention weights, context. */
void attention_backward(real *dx_q, real *dx_kv, Attention *dp, const real *dy, const AttentionActs *a,
                        const Attention *p, int Nq, int Nkv, const AttentionSpans *spans, const DropoutSite *drop,
                        Arena *scratch) {
    bool self = a->x_q == a->x_kv;
    assert(self == (dx_kv == NULL));
    ArenaMark mark = arena_mark(scratch);
    real *dcontext = arena_reals(scratch, "context", Nq, p->out_proj.in);
    Projected d = projected_take(p->shape, self, Nq, Nkv, scratch);
    linear_backward(dcontext, &dp->out_proj, dy, a->context, &p->out_proj, Nq); /* 3 */
    attention_core_backward((HeadRowsGrad){d.q, d.q_stride}, (HeadRowsGrad){d.k, d.kv_stride},
                            (HeadRowsGrad){d.v, d.kv_stride}, dcontext, &a->core, p->shape, spans, drop,
                            scratch); /* 2 */
    if (self) {                       /* 1 */
        Linear qkv = attention_joined(&p->q_proj, d.q_stride), dqkv = attention_joined(&dp->q_proj, d.q_stride);
        linear_backward(dx_q, &dqkv, d.q, a->x_q, &qkv, Nq);
    } else {
        Linear kv = attention_joined(&p->k_proj, d.kv_stride), dkv = attention_joined(&dp->k_proj, d.kv_stride);
        linear_backward(dx_q, &dp->q_proj, d.q, a->x_q, &p->q_proj, Nq);
        linear_backward(dx_kv, &dkv, d.k, a->x_kv, &kv, Nkv);
    }
    arena_release(scratch, mark);
}
