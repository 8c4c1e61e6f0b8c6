#include "measuring/attention_cost.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parts.h"
#include "base/rng.h"
#include "model/attention.h"
#include "model/matmul.h"

enum { D = COST_WIDTH, MOST_ROWS = 1024 };

const char *const attention_use_names[ATTENTION_USES] = {"self", "masked self", "cross"};

static const struct {
    AttentionUse use;
    int queries, keys;
} SIZES[] = {
    {USE_SELF, 64, 64},     {USE_SELF, 128, 128},    {USE_SELF, 256, 256},   {USE_SELF, 512, 512},
    {USE_SELF, 1024, 1024}, {USE_MASKED, 256, 256},  {USE_MASKED, 512, 512}, {USE_MASKED, 1024, 1024},
    {USE_CROSS, 256, 256},  {USE_CROSS, 256, 512},   {USE_CROSS, 256, 1024}, {USE_CROSS, 512, 256},
    {USE_CROSS, 1024, 256}, {USE_CROSS, 1024, 1024},
};

/* An attention layer, its gradient, and sequences to read. */
typedef struct Layer {
    Attention p, dp;
    real *slab, *dslab;
    real *x, *other; /* [MOST_ROWS,D] the queries' sequence; the keys' in cross-attention */
    Arena arena;
} Layer;

static void bind(Attention *p, real *slab, ParamTable *table) {
    AttentionShape shape = {COST_HEADS, D / COST_HEADS, D / COST_HEADS};
    attention_bind(p, &(ParamBinder){.slab = slab, .table = table}, "attn", shape, D, D);
}

static real *sequence(uint64_t seed) {
    Rng rng = {seed};
    real *x = memory_alloc((size_t)MOST_ROWS * D, sizeof(real), "a sequence");
    for (int i = 0; i < MOST_ROWS * D; i++) x[i] = (real)rng_normal(&rng);
    return x;
}

static void layer_open(Layer *l) {
    ParamTable table = {.qkv_gain = 1};
    bind(&l->p, NULL, &table);
    l->slab = memory_alloc(table.total, sizeof(real), "weights");
    l->dslab = memory_alloc(table.total, sizeof(real), "gradients");
    param_init(l->slab, &table, 1);
    bind(&l->p, l->slab, NULL);
    bind(&l->dp, l->dslab, NULL);
    param_table_free(&table);
    l->x = sequence(1);
    l->other = sequence(2);
    arena_init(&l->arena, "activations");
}

static void layer_close(Layer *l) {
    real *all[] = {l->slab, l->dslab, l->x, l->other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) memory_free(all[i]);
    arena_free(&l->arena);
}

/* One sentence of n queries and m keys, forward and backward. */
static void pass(Layer *l, AttentionUse use, int n, int m) {
    ArenaMark mark = arena_mark(&l->arena);
    AttentionSpan span = {.queries = n, .keys = m, .causal = use == USE_MASKED};
    AttentionSpans spans = {1, &span};
    AttentionActs acts;
    DropoutSite none = {0};
    real *y = arena_reals(&l->arena, "y", n, D), *dx_q = arena_reals(&l->arena, "dx_q", n, D);
    const real *x_kv = use == USE_CROSS ? l->other : l->x;
    real *dx_kv = use == USE_CROSS ? arena_reals(&l->arena, "dx_kv", m, D) : NULL;
    attention_forward(y, &acts, l->x, x_kv, &l->p, n, m, &spans, &none, &l->arena);
    attention_backward(dx_q, dx_kv, &l->dp, y, &acts, &l->p, n, m, &spans, &none, &l->arena); /* y serves as dy */
    arena_release(&l->arena, mark);
}

/* Processor time of this thread; what goes by between two parts counts with the second. */
typedef struct Watch {
    double last, core, projections;
} Watch;

static void after_part(void *context, Part part) {
    Watch *w = context;
    double now = clock_thread_seconds();
    *(part == PART_ATTENTION ? &w->core : &w->projections) += now - w->last;
    w->last = now;
}

/* The best of several runs of about two milliseconds each: what else the machine does only adds. */
static void measure(AttentionCost *cost, Layer *l) {
    enum { RUNS = 5 };
    cost->core_ms = cost->projections_ms = (double)INFINITY;
    pass(l, cost->use, cost->queries, cost->keys); /* touches fresh memory */
    for (int r = 0; r < RUNS; r++) {
        double start = clock_thread_seconds();
        Watch watch = {.last = start};
        int calls = 0;
        part_watch(after_part, &watch);
        for (; watch.last - start < 2e-3; calls++) pass(l, cost->use, cost->queries, cost->keys);
        part_watch(NULL, NULL);
        cost->core_ms = fmin(cost->core_ms, 1e3 * watch.core / calls);
        cost->projections_ms = fmin(cost->projections_ms, 1e3 * watch.projections / calls);
    }
}

int attention_cost_measure(AttentionCost *costs) {
    enum { COUNT = sizeof SIZES / sizeof *SIZES };
    _Static_assert((int)COUNT <= (int)MOST_COSTS, "raise MOST_COSTS");
    Layer layer;
    matmul_serial_blas();
    layer_open(&layer);
    for (int i = 0; i < COUNT; i++) {
        costs[i] = (AttentionCost){SIZES[i].use, SIZES[i].queries, SIZES[i].keys, 0, 0};
        measure(&costs[i], &layer);
    }
    layer_close(&layer);
    return COUNT;
}
