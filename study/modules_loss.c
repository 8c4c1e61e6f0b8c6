/* Output layer and loss, with and without smoothing, in one and in several chunks of rows. */
#include "study/modules.h"

#include "model/loss.h"

typedef struct Case {
    int N, D, V, chunk;
    double smoothing;
    const int *targets;
    Linear p, dp;
    real *h, *dh, *y, *dy; /* y: the summed objective */
} Case;

static void bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    Linear *p = gradient ? &c->dp : &c->p;
    *p = (Linear){.in = c->D, .out = c->V};
    param_bind(b, &p->W, "lm_head.weight", 2, c->V, c->D, PARAM_MATRIX);
}

static void run(Case *c, Arena *arena, bool backward) {
    ArenaMark mark = arena_mark(arena);
    LossActs a = loss_acts(c->chunk, c->V, arena);
    LossSums sums = {0};
    for (int n = 0; n < c->N; n += c->chunk) {
        int C = c->N - n < c->chunk ? c->N - n : c->chunk;
        const real *h = c->h + n * c->D;
        loss_forward(&sums, NULL, &a, h, c->targets + n, &c->p, c->smoothing, C);
        if (backward)
            loss_backward(c->dh + n * c->D, &c->dp, &a, h, c->targets + n, &c->p, c->smoothing, (double)c->dy[0], C);
    }
    c->y[0] = (real)sums.objective;
    arena_release(arena, mark);
}

static void forward(void *self, Arena *arena) { run(self, arena, false); }

static void backward(void *self, Arena *arena) { run(self, arena, true); }

/* V: all targets are below it. */
static void check_loss(const ProbeVisitor *v, const char *name, double smoothing, int chunk, int V) {
    static const int targets[] = {4, 0, 10, 4, 7, 2, 10, 1, 9};
    int spread[9]; /* over all classes, so over all blocks of them */
    for (int n = 0; n < 9; n++) spread[n] = targets[n] * (V - 1) / 10;
    Case c = {.N = 9, .D = V > LOSS_BLOCK ? 2 : 5, .V = V, .chunk = chunk, .smoothing = smoothing, .targets = spread};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){bind, forward, backward});
    probe_input(&probe, "h", c.N, c.D, &c.h, &c.dh);
    probe_output(&probe, 1, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_loss(const ProbeVisitor *v) {
    check_loss(v, "loss", 0, 9, 11);
    check_loss(v, "loss with smoothing", 0.1, 9, 11);
    check_loss(v, "loss with smoothing, chunks of 2 rows", 0.3, 2, 11);
    check_loss(v, "loss with smoothing, chunks of 4 rows", 0.1, 4, 11);
    check_loss(v, "loss with smoothing, three blocks of classes", 0.1, 9, 2 * LOSS_BLOCK + 7);
    check_loss(v, "loss, two blocks of classes, chunks of 4 rows", 0, 4, 2 * LOSS_BLOCK);
}
