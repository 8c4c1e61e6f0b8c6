/* Output layer and R-Drop's loss of two passes, in one and in several chunks of rows and blocks of classes. */
#include "study/modules.h"

#include "model/rdrop.h"

typedef struct Case {
    int N, D, V, chunk;
    double smoothing, alpha;
    const int *targets;
    Linear p, dp;
    real *h[2], *dh[2], *y, *dy; /* y: the summed objective */
} Case;

static void bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    Linear *p = gradient ? &c->dp : &c->p;
    *p = (Linear){.in = c->D, .out = c->V};
    param_bind(b, &p->W, "lm_head.weight", 2, c->V, c->D, PARAM_MATRIX);
}

static void run(Case *c, Arena *arena, bool backward) {
    ArenaMark mark = arena_mark(arena);
    RDropActs a = rdrop_acts(c->chunk, c->V, arena);
    LossSums sums = {0};
    for (int n = 0; n < c->N; n += c->chunk) {
        int C = c->N - n < c->chunk ? c->N - n : c->chunk;
        const real *h[2] = {c->h[0] + n * c->D, c->h[1] + n * c->D};
        rdrop_forward(&sums, &a, h, c->targets + n, &c->p, c->smoothing, c->alpha, C);
        if (!backward) continue;
        real *dh[2] = {c->dh[0] + n * c->D, c->dh[1] + n * c->D};
        rdrop_backward(dh, &c->dp, &a, h, c->targets + n, &c->p, c->smoothing, c->alpha, (double)c->dy[0], C);
    }
    c->y[0] = (real)sums.objective;
    arena_release(arena, mark);
}

static void forward(void *self, Arena *arena) { run(self, arena, false); }

static void backward(void *self, Arena *arena) { run(self, arena, true); }

/* V: all targets are below it. */
static void check_rdrop(const ProbeVisitor *v, const char *name, double smoothing, double alpha, int chunk, int V) {
    static const int targets[] = {4, 0, 10, 4, 7, 2, 10, 1, 9};
    int spread[9]; /* over all classes, so over all blocks of them */
    for (int n = 0; n < 9; n++) spread[n] = targets[n] * (V - 1) / 10;
    Case c = {.N = 9,
              .D = V > LOSS_BLOCK ? 2 : 5,
              .V = V,
              .chunk = chunk,
              .smoothing = smoothing,
              .alpha = alpha,
              .targets = spread};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){bind, forward, backward});
    probe_input(&probe, "h1", c.N, c.D, &c.h[0], &c.dh[0]);
    probe_input(&probe, "h2", c.N, c.D, &c.h[1], &c.dh[1]);
    probe_output(&probe, 1, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_rdrop(const ProbeVisitor *v) {
    check_rdrop(v, "R-Drop, alpha 0", 0, 0, 9, 11);
    check_rdrop(v, "R-Drop, alpha 5", 0, 5, 9, 11);
    check_rdrop(v, "R-Drop with smoothing, chunks of 2 rows", 0.3, 1, 2, 11);
    check_rdrop(v, "R-Drop with smoothing, chunks of 4 rows", 0.1, 5, 4, 11);
    check_rdrop(v, "R-Drop with smoothing, three blocks of classes", 0.1, 5, 9, 2 * LOSS_BLOCK + 7);
    check_rdrop(v, "R-Drop, two blocks of classes, chunks of 4 rows", 0, 2, 4, 2 * LOSS_BLOCK);
}
