/* Gradients of attention in its uses: the core on ready q, k, v, and with its projections. */
#include "tests/support/probe.h"

#include "model/attention.h"
#include "model/matmul.h"

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

static void check_core(const char *name, AttentionShape shape, Lengths lengths, double rate) {
    Case c = {.shape = shape, .drop = probe_dropout(rate)};
    lay_spans(&c, &lengths);
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){NULL, core_forward, core_backward});
    probe_input(&probe, "q", c.Nq * shape.heads * shape.d_k, &c.q, &c.dq);
    probe_input(&probe, "k", c.Nkv * shape.heads * shape.d_k, &c.k, &c.dk);
    probe_input(&probe, "v", c.Nkv * shape.heads * shape.d_v, &c.v, &c.dv);
    probe_output(&probe, c.Nq * shape.heads * shape.d_v, &c.y, &c.dy);
    if (c.Nkv == c.spans.count) { /* one key each: its weight is 1 whatever q and k are */
        probe_zero(&probe, "q");
        probe_zero(&probe, "k");
    }
    probe_check(&probe);
}

static void test_core(void **state) {
    (void)state;
    AttentionShape one = {1, 4, 4}, two = {2, 3, 5}, three = {3, 5, 2}, pair = {2, 1, 2};
    check_core("core, one key", two, (Lengths){{1, 3}, {1, 1}, false}, 0);
    check_core("core, equal lengths", one, (Lengths){{5}, {5}, false}, 0);
    check_core("core, equal lengths, causal", one, (Lengths){{5}, {5}, true}, 0);
    check_core("core, fewer queries, three heads", three, (Lengths){{3}, {7}, false}, 0);
    check_core("core, more queries", two, (Lengths){{9}, {4}, false}, 0);
    check_core("core, several tiles", two, (Lengths){{21}, {35}, false}, 0);
    check_core("core, several tiles, causal", two, (Lengths){{19}, {19}, true}, 0);
    check_core("core, three spans", two, (Lengths){{4, 1, 6}, {3, 5, 17}, false}, 0);
    check_core("core, three spans, causal", three, (Lengths){{4, 1, 6}, {4, 1, 6}, true}, 0);
    check_core("core, blocks of queries", one, (Lengths){{67, 64}, {5, 3}, false}, 0);
    check_core("core, blocks of queries, causal", one, (Lengths){{70}, {70}, true}, 0);
    check_core("core, weights not kept", pair, (Lengths){{3, 130}, {3, 129}, false}, 0);
    check_core("core, weights not kept, causal", pair, (Lengths){{133, 4}, {133, 4}, true}, 0);
    check_core("core, cached steps", two, (Lengths){{2, 1}, {6, 4}, true}, 0);
    check_core("core, queries that see no key", two, (Lengths){{5}, {3}, true}, 0);
}

static void test_core_dropout(void **state) {
    (void)state;
    AttentionShape two = {2, 3, 5};
    check_core("core, dropout", two, (Lengths){{6, 4}, {9, 18}, false}, 0.4);
    check_core("core, dropout, causal", two, (Lengths){{7, 5}, {7, 5}, true}, 0.4);
    check_core("core, dropout, weights not kept", (AttentionShape){1, 2, 1}, (Lengths){{133}, {133}, true}, 0.4);
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
static void check_attention(const char *name, AttentionShape shape, Lengths lengths, int D_q, int D_kv, double rate) {
    bool self = D_kv == 0;
    Case c = {.shape = shape, .D_q = D_q, .D_kv = self ? D_q : D_kv, .self = self, .drop = probe_dropout(rate)};
    lay_spans(&c, &lengths);
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){attention_case_bind, attention_case_forward, attention_case_backward});
    probe_input(&probe, "x_q", c.Nq * c.D_q, &c.x_q, &c.dx_q);
    if (!self) probe_input(&probe, "x_kv", c.Nkv * c.D_kv, &c.x_kv, &c.dx_kv);
    probe_output(&probe, c.Nq * c.D_q, &c.y, &c.dy);
    if (c.Nkv == c.spans.count) {
        probe_zero(&probe, "q_proj.weight");
        probe_zero(&probe, "q_proj.bias");
        probe_zero(&probe, "k_proj.weight");
        if (!self) probe_zero(&probe, "x_q");
    }
    probe_check(&probe);
}

static void test_self_attention(void **state) {
    (void)state;
    AttentionShape one = {1, 6, 6}, two = {2, 3, 5}, three = {3, 5, 2};
    check_attention("self-attention, one head", one, (Lengths){{5}, {5}, false}, 6, 0, 0);
    check_attention("self-attention, one token each", two, (Lengths){{1, 1}, {1, 1}, false}, 6, 0, 0);
    check_attention("self-attention, three spans", two, (Lengths){{4, 1, 18}, {4, 1, 18}, false}, 6, 0, 0);
    check_attention("self-attention, causal", three, (Lengths){{5, 3}, {5, 3}, true}, 6, 0, 0);
    check_attention("self-attention, causal, dropout", two, (Lengths){{5, 17}, {5, 17}, true}, 7, 0, 0.3);
}

static void test_cross_attention(void **state) {
    (void)state;
    AttentionShape one = {1, 6, 6}, two = {2, 3, 5};
    check_attention("cross-attention, one head", one, (Lengths){{5}, {5}, false}, 6, 6, 0);
    check_attention("cross-attention, one key each", two, (Lengths){{3, 2}, {1, 1}, false}, 6, 5, 0);
    check_attention("cross-attention, three spans", two, (Lengths){{4, 1, 6}, {3, 17, 1}, false}, 6, 4, 0);
    check_attention("cross-attention, dropout", two, (Lengths){{4, 6}, {19, 3}, false}, 5, 8, 0.3);
    check_attention("cached steps", two, (Lengths){{2, 1}, {6, 4}, true}, 6, 6, 0);
}

int main(void) {
    matmul_serial_blas();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_core_dropout),
        cmocka_unit_test(test_self_attention),
        cmocka_unit_test(test_cross_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
