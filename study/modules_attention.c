/* Attention in its uses: the core on ready q, k, v, and with its projections. */
#include "study/modules.h"

#include "model/attention.h"

static const char ONE_KEY[] = "a single key has weight 1 whatever q and k are";

/* Lengths of the spans: 0 ends the list. */
enum { MOST_SPANS = 3 };
typedef struct Lengths {
    int queries[MOST_SPANS], keys[MOST_SPANS];
    bool causal;
} Lengths;

typedef struct Case {
    AttentionShape shape;
    AttentionSpan span[MOST_SPANS];
    AttentionSpans spans;
    int Nq, Nkv; /* rows */
    int D_q, D_kv;
    bool self;
    Dropout drop;
    real *q, *dq, *k, *dk, *v, *dv;
    real *x_q, *dx_q, *x_kv, *dx_kv;
    real *y, *dy;
    AttentionCoreActs core;
    Attention p, dp;
    AttentionActs acts;
} Case;

static void lay_spans(Case *c, const Lengths *lengths) {
    c->spans.span = c->span;
    for (int s = 0; s < MOST_SPANS && lengths->queries[s] > 0; s++) {
        int n = lengths->queries[s], m = lengths->keys[s];
        c->span[c->spans.count++] = (AttentionSpan){c->Nq, n, c->Nkv, m, lengths->causal};
        c->Nq += n;
        c->Nkv += m;
    }
}

/* The core. */

static void core_forward(void *self, Arena *arena) {
    Case *c = self;
    AttentionShape s = c->shape;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_SELF_WEIGHTS);
    attention_core_forward(c->y, &c->core, (HeadRows){c->q, s.heads * s.d_k}, (HeadRows){c->k, s.heads * s.d_k},
                           (HeadRows){c->v, s.heads * s.d_v}, s, &c->spans, &site, arena);
}

static void core_backward(void *self, Arena *arena) {
    Case *c = self;
    AttentionShape s = c->shape;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_SELF_WEIGHTS);
    attention_core_backward((HeadRowsGrad){c->dq, s.heads * s.d_k}, (HeadRowsGrad){c->dk, s.heads * s.d_k},
                            (HeadRowsGrad){c->dv, s.heads * s.d_v}, c->dy, &c->core, s, &c->spans, &site, arena);
}

static void check_core(const ProbeVisitor *v, const char *name, AttentionShape shape, Lengths lengths, double rate) {
    Case c = {.shape = shape, .drop = probe_dropout(rate)};
    lay_spans(&c, &lengths);
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){NULL, core_forward, core_backward});
    probe_input(&probe, "q", c.Nq, shape.heads * shape.d_k, &c.q, &c.dq);
    probe_input(&probe, "k", c.Nkv, shape.heads * shape.d_k, &c.k, &c.dk);
    probe_input(&probe, "v", c.Nkv, shape.heads * shape.d_v, &c.v, &c.dv);
    probe_output(&probe, c.Nq * shape.heads * shape.d_v, &c.y, &c.dy);
    if (c.Nkv == c.spans.count) { /* one key each: its weight is 1 whatever q and k are */
        probe_zero(&probe, "q", ONE_KEY);
        probe_zero(&probe, "k", ONE_KEY);
    }
    probe_finish(&probe, v);
}

static const AttentionShape ONE = {1, 4, 4}, TWO = {2, 3, 5}, THREE = {3, 5, 2}, PAIR = {2, 1, 2}, THIN = {1, 2, 1};

/* A square map: every token of a sentence sees all of them. */
void module_attention_core(const ProbeVisitor *v) {
    check_core(v, "attention core, square", TWO, (Lengths){{5}, {5}, false}, 0);
    check_core(v, "attention core, square, one head", ONE, (Lengths){{5}, {5}, false}, 0);
    check_core(v, "attention core, square, dropout", TWO, (Lengths){{6, 4}, {6, 4}, false}, 0.4);
}

/* The lower triangle of a square. */
void module_masked_attention_core(const ProbeVisitor *v) {
    check_core(v, "attention core, triangular", TWO, (Lengths){{5}, {5}, true}, 0);
    check_core(v, "attention core, triangular, one head", ONE, (Lengths){{5}, {5}, true}, 0);
    check_core(v, "attention core, triangular, several tiles", TWO, (Lengths){{19}, {19}, true}, 0);
    check_core(v, "attention core, triangular, three sentences", THREE, (Lengths){{4, 1, 6}, {4, 1, 6}, true}, 0);
    check_core(v, "attention core, triangular, blocks of queries", ONE, (Lengths){{70}, {70}, true}, 0);
    check_core(v, "attention core, triangular, weights not kept", PAIR, (Lengths){{133, 4}, {133, 4}, true}, 0);
    check_core(v, "attention core, cached steps", TWO, (Lengths){{2, 1}, {6, 4}, true}, 0);
    check_core(v, "attention core, queries that see no key", TWO, (Lengths){{5}, {3}, true}, 0);
    check_core(v, "attention core, triangular, dropout", TWO, (Lengths){{7, 5}, {7, 5}, true}, 0.4);
    check_core(v, "attention core, dropout, weights not kept", THIN, (Lengths){{133}, {133}, true}, 0.4);
}

/* A rectangle: n queries of one sequence, m keys of another. */
void module_cross_attention_core(const ProbeVisitor *v) {
    check_core(v, "attention core, rectangular, n < m", THREE, (Lengths){{3}, {7}, false}, 0);
    check_core(v, "attention core, rectangular, n > m", TWO, (Lengths){{9}, {4}, false}, 0);
    check_core(v, "attention core, rectangular, one key", TWO, (Lengths){{1, 3}, {1, 1}, false}, 0);
    check_core(v, "attention core, rectangular, several tiles", TWO, (Lengths){{21}, {35}, false}, 0);
    check_core(v, "attention core, rectangular, three sentences", TWO, (Lengths){{4, 1, 6}, {3, 5, 17}, false}, 0);
    check_core(v, "attention core, rectangular, blocks of queries", ONE, (Lengths){{67, 64}, {5, 3}, false}, 0);
    check_core(v, "attention core, rectangular, weights not kept", PAIR, (Lengths){{3, 130}, {3, 129}, false}, 0);
    check_core(v, "attention core, rectangular, dropout", TWO, (Lengths){{6, 4}, {9, 18}, false}, 0.4);
}

/* With projections. */

static void attention_case_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    attention_bind(gradient ? &c->dp : &c->p, b, "attn", c->shape, c->D_q, c->D_kv);
}

static void attention_case_forward(void *self, Arena *arena) {
    Case *c = self;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_CROSS_WEIGHTS);
    attention_forward(c->y, &c->acts, c->x_q, c->self ? c->x_q : c->x_kv, &c->p, c->Nq, c->Nkv, &c->spans, &site,
                      arena);
}

static void attention_case_backward(void *self, Arena *arena) {
    Case *c = self;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_CROSS_WEIGHTS);
    attention_backward(c->dx_q, c->self ? NULL : c->dx_kv, &c->dp, c->dy, &c->acts, &c->p, c->Nq, c->Nkv, &c->spans,
                       &site, arena);
}

/* D_kv == 0: self-attention. */
static void check_attention(const ProbeVisitor *v, const char *name, AttentionShape shape, Lengths lengths, int D_q,
                            int D_kv, double rate) {
    bool self = D_kv == 0;
    Case c = {.shape = shape, .D_q = D_q, .D_kv = self ? D_q : D_kv, .self = self, .drop = probe_dropout(rate)};
    lay_spans(&c, &lengths);
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){attention_case_bind, attention_case_forward, attention_case_backward});
    probe_input(&probe, "x_q", c.Nq, c.D_q, &c.x_q, &c.dx_q);
    if (!self) probe_input(&probe, "x_kv", c.Nkv, c.D_kv, &c.x_kv, &c.dx_kv);
    probe_output(&probe, c.Nq * c.D_q, &c.y, &c.dy);
    if (c.Nkv == c.spans.count) {
        probe_zero(&probe, "q_proj.weight", ONE_KEY);
        probe_zero(&probe, "q_proj.bias", ONE_KEY);
        probe_zero(&probe, "k_proj.weight", ONE_KEY);
        if (!self) probe_zero(&probe, "x_q", ONE_KEY);
    }
    probe_finish(&probe, v);
}

static const AttentionShape WIDE = {1, 6, 6};

void module_self_attention(const ProbeVisitor *v) {
    check_attention(v, "self-attention", TWO, (Lengths){{4, 1, 18}, {4, 1, 18}, false}, 6, 0, 0);
    check_attention(v, "self-attention, one head", WIDE, (Lengths){{5}, {5}, false}, 6, 0, 0);
    check_attention(v, "self-attention, one token each", TWO, (Lengths){{1, 1}, {1, 1}, false}, 6, 0, 0);
}

void module_masked_self_attention(const ProbeVisitor *v) {
    check_attention(v, "masked self-attention", THREE, (Lengths){{5, 3}, {5, 3}, true}, 6, 0, 0);
    check_attention(v, "masked self-attention, dropout", TWO, (Lengths){{5, 17}, {5, 17}, true}, 7, 0, 0.3);
}

/* Encoder and decoder of unequal widths. */
void module_cross_attention(const ProbeVisitor *v) {
    check_attention(v, "cross-attention, widths 6 and 4", TWO, (Lengths){{4, 1, 6}, {3, 17, 1}, false}, 6, 4, 0);
    check_attention(v, "cross-attention, one head, one width", WIDE, (Lengths){{5}, {5}, false}, 6, 6, 0);
    check_attention(v, "cross-attention, one key each", TWO, (Lengths){{3, 2}, {1, 1}, false}, 6, 5, 0);
    check_attention(v, "cross-attention, dropout, widths 5 and 8", TWO, (Lengths){{4, 6}, {19, 3}, false}, 5, 8, 0.3);
    check_attention(v, "cross-attention, cached steps", TWO, (Lengths){{2, 1}, {6, 4}, true}, 6, 6, 0);
}
