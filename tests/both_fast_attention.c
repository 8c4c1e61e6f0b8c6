/* The attention core, which works in tiles and blocks of queries, against its definition. */
#include "tests/support/probe.h"

#include "model/attention_core.h"
#include "tests/support/twin.h"

enum { MOST_SPANS = 4, SPARE = 3 }; /* SPARE: columns between the rows of Q, K, V that belong to somebody else */

/* Q, K, V or a gradient of one: [rows, cols] in rows of `stride`. */
typedef struct Rows {
    int rows, cols, stride;
} Rows;

typedef struct Case {
    AttentionShape shape;
    AttentionSpan span[MOST_SPANS];
    AttentionSpans spans;
    int queries, keys; /* rows in all, also those that no span covers */
    DropoutSite drop;
    Rows q, k, v, o;
} Case;

static Rows rows_of(int rows, int cols, int spare) { return (Rows){rows, cols, cols + spare}; }
static size_t size_of(Rows r) { return (size_t)r.rows * (size_t)r.stride; }

/* In doubles, all in the layout of the fast path's arrays. */
typedef struct Twin {
    double *q, *k, *v, *d_o;   /* given */
    TwinSum *o, *dq, *dk, *dv; /* wanted */
    double *A, *mask;          /* [keys] of one query */
    TwinSum *dA;
    real *ones, *mask_row;
} Twin;

/* softmax(q k' / sqrt K), dropout, times v: one query, one head, and its gradients. */
static void twin_query(Twin *t, const Case *c, const AttentionSpan *s, int h, int i) {
    int K = c->shape.d_k, Vd = c->shape.d_v, query = s->query + i, visible = 0;
    const double *q = t->q + query * c->q.stride + h * K, *d_o = t->d_o + query * c->o.stride + h * Vd;
    TwinSum *o = t->o + query * c->o.stride + h * Vd, *dq = t->dq + query * c->q.stride + h * K;
    double most = -(double)INFINITY, sum = 0;
    TwinSum dot = {0, 0};
    for (int j = 0; j < s->keys; j++) {
        if (s->causal && s->keys - j < s->queries - i) break; /* the last query sees the last key */
        const double *k = t->k + (s->key + j) * c->k.stride + h * K;
        t->A[j] = 0;
        for (int d = 0; d < K; d++) t->A[j] += q[d] * k[d] / sqrt((double)K);
        most = t->A[j] > most ? t->A[j] : most;
        visible++;
    }
    for (int j = 0; j < visible; j++) sum += t->A[j] = exp(t->A[j] - most);
    if (dropout_is_on(&c->drop)) dropout_weights(t->mask_row, t->ones, s->keys, query, h, &c->drop);
    for (int j = 0; j < visible; j++) {
        const double *v = t->v + (s->key + j) * c->v.stride + h * Vd;
        TwinSum *dv = t->dv + (s->key + j) * c->v.stride + h * Vd;
        t->mask[j] = dropout_is_on(&c->drop) ? (double)t->mask_row[j] : 1;
        t->A[j] /= sum;
        t->dA[j] = (TwinSum){0, 0};
        double A_drop = t->mask[j] * t->A[j];
        for (int d = 0; d < Vd; d++) {
            twin_add(&o[d], A_drop * v[d], A_drop * fabs(v[d]));
            twin_add(&dv[d], A_drop * d_o[d], A_drop * fabs(d_o[d]));
            twin_add(&t->dA[j], t->mask[j] * d_o[d] * v[d], t->mask[j] * fabs(d_o[d] * v[d]));
        }
        twin_add(&dot, t->A[j] * t->dA[j].value, t->A[j] * t->dA[j].size);
    }
    for (int j = 0; j < visible; j++) {
        const double *k = t->k + (s->key + j) * c->k.stride + h * K;
        TwinSum *dk = t->dk + (s->key + j) * c->k.stride + h * K;
        double dS = t->A[j] * (t->dA[j].value - dot.value) / sqrt((double)K);
        double size = t->A[j] * (t->dA[j].size + dot.size) / sqrt((double)K);
        for (int d = 0; d < K; d++) {
            twin_add(&dq[d], dS * k[d], size * fabs(k[d]));
            twin_add(&dk[d], dS * q[d], size * fabs(q[d]));
        }
    }
}

/* Rows that no span covers and columns between the heads are not written; in the twin they count as untouched. */
static void leave_untouched(TwinSum *x, Rows r, const Case *c, bool of_queries) {
    for (int n = 0; n < r.rows; n++) {
        bool covered = false;
        for (int s = 0; s < c->spans.count; s++) {
            int first = of_queries ? c->span[s].query : c->span[s].key;
            int count = of_queries ? c->span[s].queries : c->span[s].keys;
            covered |= n >= first && n < first + count;
        }
        for (int d = 0; d < r.stride; d++)
            if (!covered || d >= r.cols) x[n * r.stride + d] = (TwinSum){(double)TWIN_UNTOUCHED, 0};
    }
}

static void assert_rows(const real *fast, TwinSum *twin, Rows r, const Case *c, bool of_queries, double epsilons) {
    leave_untouched(twin, r, c, of_queries);
    assert_sums(fast, twin, size_of(r), epsilons);
}

static void check(Case *c, uint64_t seed, double spread, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int H = c->shape.heads, K = c->shape.d_k, Vd = c->shape.d_v;
    c->q = rows_of(c->queries, H * K, SPARE), c->o = rows_of(c->queries, H * Vd, 0);
    c->k = rows_of(c->keys, H * K, 2 * SPARE), c->v = rows_of(c->keys, H * Vd, SPARE);
    c->spans = (AttentionSpans){c->spans.count, c->span};

    real *q = twin_random(arena, size_of(c->q), seed), *k = twin_random(arena, size_of(c->k), seed + 1);
    real *v = twin_random(arena, size_of(c->v), seed + 2), *d_o = twin_random(arena, size_of(c->o), seed + 3);
    for (size_t i = 0; i < size_of(c->q); i++) q[i] *= (real)spread;
    real *o = twin_output(arena, size_of(c->o)), *dq = twin_output(arena, size_of(c->q));
    real *dk = twin_output(arena, size_of(c->k)), *dv = twin_output(arena, size_of(c->v));
    AttentionCoreActs acts;
    attention_core_forward(o, &acts, (HeadRows){q, c->q.stride}, (HeadRows){k, c->k.stride}, (HeadRows){v, c->v.stride},
                           c->shape, &c->spans, &c->drop, arena);
    attention_core_backward((HeadRowsGrad){dq, c->q.stride}, (HeadRowsGrad){dk, c->k.stride},
                            (HeadRowsGrad){dv, c->v.stride}, d_o, &acts, c->shape, &c->spans, &c->drop, arena);

    size_t row = (size_t)c->keys;
    Twin t = {.q = twin_doubles(arena, q, size_of(c->q)),
              .k = twin_doubles(arena, k, size_of(c->k)),
              .v = twin_doubles(arena, v, size_of(c->v)),
              .d_o = twin_doubles(arena, d_o, size_of(c->o)),
              .o = twin_sums(arena, size_of(c->o)),
              .dq = twin_sums(arena, size_of(c->q)),
              .dk = twin_sums(arena, size_of(c->k)),
              .dv = twin_sums(arena, size_of(c->v)),
              .A = twin_zeros(arena, row),
              .mask = twin_zeros(arena, row),
              .dA = twin_sums(arena, row),
              .ones = twin_output(arena, row),
              .mask_row = twin_output(arena, row)};
    for (size_t j = 0; j < row; j++) t.ones[j] = 1;
    for (int s = 0; s < c->spans.count; s++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < c->span[s].queries; i++) twin_query(&t, c, &c->span[s], h, i);
    double epsilons = 20 * spread;
    assert_rows(o, t.o, c->o, c, true, epsilons);
    assert_rows(dq, t.dq, c->q, c, true, epsilons);
    assert_rows(dk, t.dk, c->k, c, false, epsilons);
    assert_rows(dv, t.dv, c->v, c, false, epsilons);
    arena_release(arena, mark);
}

static void add_span(Case *c, int queries, int keys, bool causal, int gap) {
    c->span[c->spans.count++] = (AttentionSpan){c->queries, queries, c->keys, keys, causal};
    c->queries += queries + gap;
    c->keys += keys + gap;
}

static DropoutSite some_dropout(double rate) {
    Dropout drop = probe_dropout(rate);
    return dropout_site(&drop, 1, DROPOUT_SELF_WEIGHTS);
}

static void test_random_shapes(void **state) {
    (void)state;
    Arena arena;
    Rng rng = {hash64(1)};
    arena_init(&arena, "test");
    for (uint64_t round = 0; round < 120; round++) {
        Case c = {.shape = {1 + (int)rng_below(&rng, 3), twin_size(&rng, 33), twin_size(&rng, 33)},
                  .drop = some_dropout(round % 3 ? 0.4 : 0)};
        for (int spans = 1 + (int)rng_below(&rng, MOST_SPANS); spans > 0; spans--) {
            int queries = twin_size(&rng, 97), keys = round % 2 ? queries : twin_size(&rng, 97);
            add_span(&c, queries, keys, rng_below(&rng, 2), (int)rng_below(&rng, 2));
        }
        check(&c, 10 * round, round % 5 ? 1 : 20, &arena);
    }
    arena_free(&arena);
}

/* Around the lengths from which weights are not kept, and above several blocks of queries. */
static void test_long_spans(void **state) {
    (void)state;
    static const int lengths[][2] = {{127, 129}, {128, 128}, {129, 128}, {131, 131}, {64, 300},
                                     {300, 257}, {257, 300}, {1, 389},   {389, 1},   {193, 97}};
    Arena arena;
    arena_init(&arena, "test");
    for (uint64_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int way = 0; way < 4; way++) {
            Case c = {.shape = {2, 5, 9}, .drop = some_dropout(way & 1 ? 0.3 : 0)};
            add_span(&c, 3, 2, true, 1);
            add_span(&c, lengths[i][0], lengths[i][1], way & 2, 1);
            add_span(&c, 7, 7, true, 0);
            check(&c, 1000 + 10 * i, 1, &arena);
        }
    }
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_long_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
