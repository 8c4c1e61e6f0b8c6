/* Multi-head attention (Vaswani et al. 2017, section 3.2.2): projections around attention_core.
 *
 * Queries come from x_q, keys and values from x_kv. Self-attention is the case x_q == x_kv (the same
 * pointer); cross-attention reads its keys and values from the encoder's output, of another length and width. */
#ifndef MODEL_ATTENTION_H
#define MODEL_ATTENTION_H

#include "model/attention_core.h"
#include "model/linear.h"

typedef struct Attention {
    AttentionShape shape;
    Linear q_proj;   /* [H K,  D_q]   */
    Linear k_proj;   /* [H K,  D_kv]  its W right behind q's, and v's behind it; so with the biases: */
    Linear v_proj;   /* [H Vd, D_kv]  one product projects all that read the same input              */
    Linear out_proj; /* [D_q, H Vd] */
} Attention;

typedef struct AttentionActs {
    const real *x_q, *x_kv; /* [Nq,D_q], [Nkv,D_kv] borrowed */
    AttentionCoreActs core;
    real *context; /* [Nq, H Vd] heads side by side, input of out_proj */
} AttentionActs;

void attention_bind(Attention *p, ParamBinder *binder, const char *name, AttentionShape shape, int width_q,
                    int width_kv);

/* The joined layer of `first` and those that lie behind it, `out` outputs in all. */
Linear attention_joined(const Linear *first, int out);

/* y [Nq,D_q]. */
void attention_forward(real *y, AttentionActs *a, const real *x_q, const real *x_kv, const Attention *p, int Nq,
                       int Nkv, const AttentionSpans *spans, const DropoutSite *drop, Arena *acts);

/* Overwrites dx_q [Nq,D_q] and dx_kv [Nkv,D_kv]; adds to dp. Reads dy [Nq,D_q].
 * In self-attention dx_kv is NULL and dx_q receives the gradient through queries, keys and values together. */
void attention_backward(real *dx_q, real *dx_kv, Attention *dp, const real *dy, const AttentionActs *a,
                        const Attention *p, int Nq, int Nkv, const AttentionSpans *spans, const DropoutSite *drop,
                        Arena *scratch);

#endif
