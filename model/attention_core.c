#include "model/attention_core.h"

#include "base/parts.h"
#include "model/softmax.h"
#include "model/tile.h"

/* A' = dropout(A) for one span and head; A itself where there is no dropout. */
static const real *dropped_weights(real *buffer, const real *A, const AttentionSpan *s, int head, int M,
                                   const DropoutSite *drop) {
    if (!dropout_is_on(drop)) return A;
    for (int i = 0; i < s->queries; i++)
        dropout_weights(buffer + (size_t)i * M, A + (size_t)i * M, M, s->query + i, head, drop);
    return buffer;
}

static size_t weights_size(const AttentionSpan *s, int heads) {
    return (size_t)heads * (size_t)s->queries * (size_t)tile_pad(s->keys);
}

void attention_core_forward(real *out, AttentionCoreActs *a, HeadRows q, HeadRows k, HeadRows v, AttentionShape shape,
                            const AttentionSpans *spans, const DropoutSite *drop, Arena *acts) {
    int K = shape.d_k, Vd = shape.d_v, out_stride = shape.heads * Vd;
    real scale = 1 / sqrt((real)K);
    part_begin(PART_ATTENTION);
    size_t total = 0;
    for (int s = 0; s < spans->count; s++) total += weights_size(&spans->span[s], shape.heads);
    *a = (AttentionCoreActs){q, k, v, arena_reals(acts, "attention weights", 1, total)};

    real *A = a->weights;
    for (int s = 0; s < spans->count; s++) {
        const AttentionSpan *sp = &spans->span[s];
        int n = sp->queries, m = sp->keys, M = tile_pad(m);
        ArenaMark mark = arena_mark(acts);
        real *K_t = arena_reals(acts, "keys transposed", K, M);
        real *buffer = dropout_is_on(drop) ? arena_reals(acts, "dropped weights", n, M) : NULL;
        for (int h = 0; h < shape.heads; h++, A += (size_t)n * M) {
            const real *Q_h = q.data + (size_t)sp->query * q.stride + h * K;
            const real *K_h = k.data + (size_t)sp->key * k.stride + h * K;
            const real *V_h = v.data + (size_t)sp->key * v.stride + h * Vd;
            real *O_h = out + (size_t)sp->query * out_stride + h * Vd;
            tile_transpose(K_t, M, K_h, k.stride, m, K);
            tile_matmul(A, M, Q_h, q.stride, 1, K_t, M, n, M, K); /* 1  S = Q K'                */
            for (int i = 0; i < n; i++)                           /* 2  A = softmax(S / sqrt K) */
                softmax_forward(A + (size_t)i * M, A + (size_t)i * M, attention_visible(sp, i), M, scale);
            const real *A_drop = dropped_weights(buffer, A, sp, h, M, drop);     /* 3  A' = dropout(A)         */
            tile_matmul(O_h, out_stride, A_drop, M, 1, V_h, v.stride, n, Vd, m); /* 4  O = A' V */
        }
        arena_release(acts, mark);
    }
    part_end();
}

/* Forward     S_ij = sum_c Q_ic K_jc,  A_ij = softmax_j(S_ij / sqrt K) over visible j,  A'_ij = m_ij A_ij,
 *             O_ic = sum_j A'_ij V_jc                                       (one span and one head)
 * Given       dO.   Wanted  dQ, dK, dV.
 * Derivation  4  O is bilinear in A' and V:  dV_jc = sum_i A'_ij dO_ic,  dA'_ij = sum_c dO_ic V_jc
 *             3  dA_ij = m_ij dA'_ij
 *             2  softmax_backward, row by row, gives dS. A hidden j has A_ij = 0, hence dS_ij = 0: no mask is needed.
 *             1  S is bilinear in Q and K:   dQ_ic = sum_j dS_ij K_jc,   dK_jc = sum_i dS_ij Q_ic
 * Saved       A, before dropout (its mask is drawn again), and q, k, v, by the caller. */
void attention_core_backward(HeadRowsGrad dq, HeadRowsGrad dk, HeadRowsGrad dv, const real *dout,
                             const AttentionCoreActs *a, AttentionShape shape, const AttentionSpans *spans,
                             const DropoutSite *drop, Arena *scratch) {
    int K = shape.d_k, Vd = shape.d_v, out_stride = shape.heads * Vd;
    real scale = 1 / sqrt((real)K);
    part_begin(PART_ATTENTION);
    const real *A = a->weights;
    for (int s = 0; s < spans->count; s++) {
        const AttentionSpan *sp = &spans->span[s];
        int n = sp->queries, m = sp->keys, M = tile_pad(m);
        ArenaMark mark = arena_mark(scratch);
        real *V_t = arena_reals(scratch, "values transposed", Vd, M);
        real *dA = arena_reals(scratch, "attention weights", n, M);
        real *buffer = dropout_is_on(drop) ? arena_reals(scratch, "dropped weights", n, M) : NULL;
        for (int h = 0; h < shape.heads; h++, A += (size_t)n * M) {
            const real *Q_h = a->q.data + (size_t)sp->query * a->q.stride + h * K;
            const real *K_h = a->k.data + (size_t)sp->key * a->k.stride + h * K;
            const real *V_h = a->v.data + (size_t)sp->key * a->v.stride + h * Vd;
            const real *dO_h = dout + (size_t)sp->query * out_stride + h * Vd;
            real *dQ_h = dq.data + (size_t)sp->query * dq.stride + h * K;
            real *dK_h = dk.data + (size_t)sp->key * dk.stride + h * K;
            real *dV_h = dv.data + (size_t)sp->key * dv.stride + h * Vd;
            const real *A_drop = dropped_weights(buffer, A, sp, h, M, drop);
            tile_matmul(dV_h, dv.stride, A_drop, 1, M, dO_h, out_stride, m, Vd, n); /* 4  dV = (A')' dO  */
            tile_transpose(V_t, M, V_h, a->v.stride, m, Vd);
            tile_matmul(dA, M, dO_h, out_stride, 1, V_t, M, n, M, Vd);        /* 4  dA' = dO V'  */
            if (dropout_is_on(drop)) dropped_weights(dA, dA, sp, h, M, drop); /* 3  dA = m dA'   */
            for (int i = 0; i < n; i++)                                       /* 2  dS           */
                softmax_backward(dA + (size_t)i * M, dA + (size_t)i * M, A + (size_t)i * M, M, scale);
            tile_matmul(dQ_h, dq.stride, dA, M, 1, K_h, a->k.stride, n, K, m); /* 1  dQ = dS K    */
            tile_matmul(dK_h, dk.stride, dA, 1, M, Q_h, a->q.stride, m, K, n); /* 1  dK = dS' Q   */
        }
        arena_release(scratch, mark);
    }
    part_end();
}
