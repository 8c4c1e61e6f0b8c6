#include "model/attention_core.h"

#include <string.h>

#include "base/parts.h"
#include "model/softmax.h"
#include "model/tile.h"

/* Queries go through a head in blocks of so many rows: what a block needs of the weights stays in the cache. */
enum { QUERY_BLOCK = 64 };

/* Kept weights of one head of a span, in reals. */
static size_t kept_size(const AttentionSpan *s) {
    return attention_is_kept(s) ? (size_t)s->queries * (size_t)attention_weights_stride(s) : 0;
}

/* Queries i .. i+rows-1 of a head of a span. */
typedef struct Block {
    const AttentionSpan *span;
    int head, i, rows;
    int visible; /* keys that the last of them sees */
    int stride;  /* of rows of weights */
} Block;

static Block block_at(const AttentionSpan *s, int head, int i) {
    int rows = s->queries - i < QUERY_BLOCK ? s->queries - i : QUERY_BLOCK;
    return (Block){s, head, i, rows, attention_visible(s, i + rows - 1), attention_weights_stride(s)};
}

/* Working memory for the heads of a span, one after the other. */
typedef struct Scratch {
    real *K_t, *V_t;              /* [K, stride], [Vd, stride] keys and values of the head, transposed */
    real *weights, *dropped, *dA; /* [QUERY_BLOCK, stride] */
} Scratch;

static Scratch scratch_take(const AttentionSpan *s, AttentionShape shape, Arena *arena) {
    int stride = attention_weights_stride(s);
    return (Scratch){.K_t = arena_reals(arena, "keys transposed", shape.d_k, stride),
                     .V_t = arena_reals(arena, "values transposed", shape.d_v, stride),
                     .weights = arena_reals(arena, "weights of a block", QUERY_BLOCK, stride),
                     .dropped = arena_reals(arena, "dropped weights", QUERY_BLOCK, stride),
                     .dA = arena_reals(arena, "weights of a block", QUERY_BLOCK, stride)};
}

/* Columns col .. of rows row .. */
static HeadRows rows_from(HeadRows x, int row, int col) {
    return (HeadRows){x.data + (size_t)row * (size_t)x.stride + col, x.stride};
}

static HeadRowsGrad grad_from(HeadRowsGrad x, int row, int col) {
    return (HeadRowsGrad){x.data + (size_t)row * (size_t)x.stride + col, x.stride};
}

/* Steps 1 and 2. A [rows, stride]; zero beyond what a query sees. */
static void block_weights(real *A, const Block *b, HeadRows Q, const real *K_t, int K) {
    real scale = 1 / sqrt((real)K);
    tile_matmul(A, b->stride, Q.data, Q.stride, 1, K_t, b->stride, b->rows, tile_pad(b->visible), K); /* 1 */
    for (int r = 0; r < b->rows; r++) {                                                               /* 2 */
        real *A_r = A + (size_t)r * (size_t)b->stride;
        softmax_forward(A_r, A_r, attention_visible(b->span, b->i + r), b->stride, scale);
    }
}

/* Step 3, and its own backward: dropout of a block's rows of x, in y; x itself where there is no dropout. */
static const real *block_dropout(real *y, const real *x, const Block *b, const DropoutSite *drop) {
    if (!dropout_is_on(drop)) return x;
    for (int r = 0; r < b->rows; r++) {
        size_t row = (size_t)r * (size_t)b->stride;
        dropout_weights(y + row, x + row, b->stride, b->span->query + b->i + r, b->head, drop);
    }
    return y;
}

/* O [queries, d_v] of one head of a span. A: where its weights are kept. */
static void head_forward(HeadRowsGrad O, real *A, HeadRows Q, HeadRows K, HeadRows V, AttentionShape shape,
                         const AttentionSpan *span, int head, const DropoutSite *drop, const Scratch *s) {
    tile_transpose(s->K_t, attention_weights_stride(span), K.data, K.stride, span->keys, shape.d_k);
    for (int i = 0; i < span->queries; i += QUERY_BLOCK) {
        Block b = block_at(span, head, i);
        real *A_i = attention_is_kept(span) ? A + (size_t)i * (size_t)b.stride : s->weights;
        block_weights(A_i, &b, rows_from(Q, i, 0), s->K_t, shape.d_k); /* 1  S = Q K',  2  A = softmax(S / sqrt K) */
        const real *A_drop = block_dropout(s->dropped, A_i, &b, drop); /* 3  A' = dropout(A) */
        tile_matmul(grad_from(O, i, 0).data, O.stride, A_drop, b.stride, 1, V.data, V.stride, b.rows, shape.d_v,
                    b.visible); /* 4  O = A' V */
    }
}

void attention_core_forward(real *out, AttentionCoreActs *a, HeadRows q, HeadRows k, HeadRows v, AttentionShape shape,
                            const AttentionSpans *spans, const DropoutSite *drop, Arena *acts) {
    HeadRowsGrad o = {out, shape.heads * shape.d_v};
    size_t kept = 0;
    part_begin(PART_ATTENTION);
    for (int s = 0; s < spans->count; s++) kept += (size_t)shape.heads * kept_size(&spans->span[s]);
    *a = (AttentionCoreActs){q, k, v, arena_reals(acts, "attention weights", 1, kept)};

    real *A = a->weights;
    for (int s = 0; s < spans->count; s++) {
        const AttentionSpan *sp = &spans->span[s];
        ArenaMark mark = arena_mark(acts);
        Scratch scratch = scratch_take(sp, shape, acts);
        for (int h = 0; h < shape.heads; h++, A += kept_size(sp))
            head_forward(grad_from(o, sp->query, h * shape.d_v), A, rows_from(q, sp->query, h * shape.d_k),
                         rows_from(k, sp->key, h * shape.d_k), rows_from(v, sp->key, h * shape.d_v), shape, sp, h, drop,
                         &scratch);
        arena_release(acts, mark);
    }
    part_end();
}

/* dK and dV are sums over all queries: the first block writes what it sees, the others add. */
static void add_product(HeadRowsGrad C, bool first, const real *A, const Block *b, HeadRows B, int n) {
    (first ? tile_matmul : tile_matmul_add)(C.data, C.stride, A, 1, b->stride, B.data, B.stride, b->visible, n,
                                            b->rows);
}

static void zero_rows(HeadRowsGrad x, int from, int to, int cols) {
    for (int j = from; j < to; j++) memset(grad_from(x, j, 0).data, 0, (size_t)cols * sizeof(real));
}

/* One head of a span.
 *
 * Forward     S_ij = sum_c Q_ic K_jc,  A_ij = softmax_j(S_ij / sqrt K) over visible j,  A'_ij = m_ij A_ij,
 *             O_ic = sum_j A'_ij V_jc
 * Given       dO.   Wanted  dQ, dK, dV.
 * Derivation  4  O is bilinear in A' and V:  dV_jc = sum_i A'_ij dO_ic,  dA'_ij = sum_c dO_ic V_jc
 *             3  dA_ij = m_ij dA'_ij
 *             2  softmax_backward, row by row, gives dS. A hidden j has A_ij = 0, hence dS_ij = 0: no mask is needed.
 *             1  S is bilinear in Q and K:   dQ_ic = sum_j dS_ij K_jc,   dK_jc = sum_i dS_ij Q_ic
 * Saved       A, before dropout (its mask is drawn again), and q, k, v, by the caller. Of a long span not even A: n m
 *             weights a head would soon be more than all the rest, and steps 1 and 2 give the same again. */
static void head_backward(HeadRowsGrad dQ, HeadRowsGrad dK, HeadRowsGrad dV, HeadRows dO, const real *A, HeadRows Q,
                          HeadRows K, HeadRows V, AttentionShape shape, const AttentionSpan *span, int head,
                          const DropoutSite *drop, const Scratch *s) {
    int stride = attention_weights_stride(span), seen = block_at(span, head, 0).visible;
    real scale = 1 / sqrt((real)shape.d_k), *dA = s->dA;
    if (!attention_is_kept(span)) tile_transpose(s->K_t, stride, K.data, K.stride, span->keys, shape.d_k);
    tile_transpose(s->V_t, stride, V.data, V.stride, span->keys, shape.d_v);
    zero_rows(dK, seen, span->keys, shape.d_k);
    zero_rows(dV, seen, span->keys, shape.d_v);
    for (int i = 0; i < span->queries; i += QUERY_BLOCK) {
        Block b = block_at(span, head, i);
        HeadRows Q_i = rows_from(Q, i, 0), dO_i = rows_from(dO, i, 0);
        const real *A_i = attention_is_kept(span) ? A + (size_t)i * (size_t)stride : s->weights;
        if (A_i == s->weights) block_weights(s->weights, &b, Q_i, s->K_t, shape.d_k);
        const real *A_drop = block_dropout(s->dropped, A_i, &b, drop);
        add_product(dV, i == 0, A_drop, &b, dO_i, shape.d_v); /* 4  dV = (A')' dO */
        tile_matmul(dA, stride, dO_i.data, dO_i.stride, 1, s->V_t, stride, b.rows, tile_pad(b.visible),
                    shape.d_v);            /* 4  dA' = dO V'   */
        block_dropout(dA, dA, &b, drop);   /* 3  dA = m dA'    */
        for (int r = 0; r < b.rows; r++) { /* 2  dS            */
            size_t row = (size_t)r * (size_t)stride;
            softmax_backward(dA + row, dA + row, A_i + row, tile_pad(b.visible), scale);
        }
        tile_matmul(grad_from(dQ, i, 0).data, dQ.stride, dA, stride, 1, K.data, K.stride, b.rows, shape.d_k,
                    b.visible);                          /* 1  dQ = dS K     */
        add_product(dK, i == 0, dA, &b, Q_i, shape.d_k); /* 1  dK = dS' Q    */
    }
}

void attention_core_backward(HeadRowsGrad dq, HeadRowsGrad dk, HeadRowsGrad dv, const real *dout,
                             const AttentionCoreActs *a, AttentionShape shape, const AttentionSpans *spans,
                             const DropoutSite *drop, Arena *scratch_arena) {
    HeadRows d_o = {dout, shape.heads * shape.d_v};
    const real *A = a->weights;
    part_begin(PART_ATTENTION);
    for (int s = 0; s < spans->count; s++) {
        const AttentionSpan *sp = &spans->span[s];
        ArenaMark mark = arena_mark(scratch_arena);
        Scratch scratch = scratch_take(sp, shape, scratch_arena);
        for (int h = 0; h < shape.heads; h++, A += kept_size(sp)) {
            int k_col = h * shape.d_k, v_col = h * shape.d_v;
            head_backward(grad_from(dq, sp->query, k_col), grad_from(dk, sp->key, k_col), grad_from(dv, sp->key, v_col),
                          rows_from(d_o, sp->query, v_col), A, rows_from(a->q, sp->query, k_col),
                          rows_from(a->k, sp->key, k_col), rows_from(a->v, sp->key, v_col), shape, sp, h, drop,
                          &scratch);
        }
        arena_release(scratch_arena, mark);
    }
    part_end();
}
