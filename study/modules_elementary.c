/* The elementary modules, each alone. */
#include "study/modules.h"

#include <string.h>

#include "model/activation.h"
#include "model/embedding.h"
#include "model/layer_norm.h"
#include "model/linear.h"
#include "model/residual.h"
#include "model/softmax.h"

/* One struct serves all modules: those that are not under test stay zero. */
typedef struct Case {
    int N, D, F;
    bool bias, alias; /* alias: the input's gradient takes the place of the output's */
    Linear linear, dlinear;
    LayerNorm norm, dnorm;
    LayerNormActs norm_acts;
    Embedding embedding, dembedding;
    Residual residual, dresidual;
    ResidualActs residual_acts;
    Activation activation;
    Positions positions;
    Packed rows;
    int *ids, first;
    int visible;
    Dropout drop;
    real *x, *dx, *f, *df, *y, *dy;
} Case;

/* Where the backward finds dy: in dx itself when the two are to be one buffer. */
static const real *upstream(const Case *c, size_t count) {
    if (!c->alias) return c->dy;
    memcpy(c->dx, c->dy, count * sizeof(real));
    return c->dx;
}

/* Linear: with and without bias, with and without a wanted dx. */

static void linear_case_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    Linear *p = gradient ? &c->dlinear : &c->linear;
    if (c->bias) {
        linear_bind(p, b, "linear", c->D, c->F);
    } else {
        *p = (Linear){.in = c->D, .out = c->F};
        param_bind(b, &p->W, "linear.weight", 2, c->F, c->D, PARAM_MATRIX);
    }
}

static void linear_case_forward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    linear_forward(c->y, c->x, &c->linear, c->N);
}

static void linear_case_backward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    linear_backward(c->dx, &c->dlinear, c->dy, c->x, &c->linear, c->N);
}

static void check_linear(const ProbeVisitor *v, const char *name, int N, int in, int out, bool bias, bool want_dx) {
    Case c = {.N = N, .D = in, .F = out, .bias = bias};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){linear_case_bind, linear_case_forward, linear_case_backward});
    probe_input(&probe, "x", N, in, &c.x, want_dx ? &c.dx : NULL);
    probe_output(&probe, N * out, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_linear(const ProbeVisitor *v) {
    check_linear(v, "linear", 5, 3, 4, true, true);
    check_linear(v, "linear, one row", 1, 6, 2, true, true);
    check_linear(v, "linear without bias", 4, 5, 3, false, true);
    check_linear(v, "linear, dx not wanted", 4, 5, 3, true, false);
}

/* Layer norm. */

static void norm_case_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    layer_norm_bind(gradient ? &c->dnorm : &c->norm, b, "norm", c->D);
}

static void norm_case_forward(void *self, Arena *arena) {
    Case *c = self;
    layer_norm_forward(c->y, &c->norm_acts, c->x, &c->norm, c->N, arena);
}

static void norm_case_backward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    layer_norm_backward(c->dx, &c->dnorm, upstream(c, (size_t)(c->N * c->D)), &c->norm_acts, &c->norm, c->N);
}

static void check_layer_norm(const ProbeVisitor *v, const char *name, int N, int D, bool alias) {
    Case c = {.N = N, .D = D, .alias = alias};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){norm_case_bind, norm_case_forward, norm_case_backward});
    probe_input(&probe, "x", N, D, &c.x, &c.dx);
    probe_output(&probe, N * D, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_layer_norm(const ProbeVisitor *v) {
    check_layer_norm(v, "layer norm", 5, 7, false);
    check_layer_norm(v, "layer norm, dx in place of dy", 3, 16, true);
}

/* Relu and gelu. */

static void activation_case_forward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    activation_forward(c->y, c->x, c->activation, c->N, c->F);
}

static void activation_case_backward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    activation_backward(c->dx, upstream(c, (size_t)(c->N * c->F)), c->x, c->activation, c->N, c->F);
}

static void check_activation(const ProbeVisitor *v, const char *name, Activation activation, bool alias) {
    Case c = {.N = 9, .F = 11, .activation = activation, .alias = alias};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){NULL, activation_case_forward, activation_case_backward});
    probe_input(&probe, "x", c.N, c.F, &c.x, &c.dx);
    probe_output(&probe, c.N * c.F, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_relu(const ProbeVisitor *v) {
    check_activation(v, "relu", ACTIVATION_RELU, false);
    check_activation(v, "relu, dx in place of dy", ACTIVATION_RELU, true);
}

void module_gelu(const ProbeVisitor *v) {
    check_activation(v, "gelu", ACTIVATION_GELU, false);
    check_activation(v, "gelu, dx in place of dy", ACTIVATION_GELU, true);
}

/* Softmax: rows of F padded entries, of which some are visible. Hidden ones must receive a gradient of 0. */

static void softmax_case_forward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    for (int n = 0; n < c->N; n++) softmax_forward(c->y + n * c->F, c->x + n * c->F, c->visible, c->F, (real)0.7);
}

static void softmax_case_backward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    const real *dy = upstream(c, (size_t)(c->N * c->F));
    for (int n = 0; n < c->N; n++) softmax_backward(c->dx + n * c->F, dy + n * c->F, c->y + n * c->F, c->F, (real)0.7);
}

static void check_softmax(const ProbeVisitor *v, const char *name, int visible, int padded, bool alias) {
    Case c = {.N = 4, .F = padded, .visible = visible, .alias = alias};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){NULL, softmax_case_forward, softmax_case_backward});
    probe_input(&probe, "x", c.N, c.F, &c.x, &c.dx);
    probe_output(&probe, c.N * c.F, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_softmax(const ProbeVisitor *v) {
    check_softmax(v, "softmax", 16, 16, false);
    check_softmax(v, "softmax, 19 of 32 visible", 19, 32, false);
    check_softmax(v, "softmax, 5 of 16 visible", 5, 16, false);
    check_softmax(v, "softmax, dx in place of dy", 11, 16, true);
}

/* Embedding: ids that come several times, in two sentences, at positions inside and outside of the cache, some of them
 * dropped. */

static void embedding_case_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    Embedding *p = gradient ? &c->dembedding : &c->embedding;
    *p = (Embedding){.vocab = 6, .width = c->D};
    param_bind(b, &p->E, "embedding.weight", 2, 6, c->D, PARAM_EMBEDDING);
}

static void embedding_case_forward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    DropoutSite words = dropout_site(&c->drop, 0, DROPOUT_SOURCE_WORD);
    embedding_forward(c->y, c->ids, &c->rows, c->first, &c->embedding, &c->positions, &words);
}

static void embedding_case_backward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    DropoutSite words = dropout_site(&c->drop, 0, DROPOUT_SOURCE_WORD);
    embedding_backward(&c->dembedding, c->dy, c->ids, c->N, &words);
}

static void check_embedding(const ProbeVisitor *v, const char *name, double word_rate) {
    int ids[] = {3, 0, 3, 5, 5, 5, 1}, offset[] = {0, 4, 7};
    Case c = {.N = 7, .D = 8, .rows = {2, offset}, .ids = ids, .first = 2, .drop = probe_dropout(0.1)};
    c.drop.rates.source_word = word_rate;
    positions_init(&c.positions, 4, c.D);
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){embedding_case_bind, embedding_case_forward, embedding_case_backward});
    probe_output(&probe, c.N * c.D, &c.y, &c.dy);
    probe_finish(&probe, v);
    positions_free(&c.positions);
}

void module_embedding(const ProbeVisitor *v) {
    check_embedding(v, "embedding", 0);
    check_embedding(v, "embedding, word dropout", 0.5);
}

/* Dropout, and the residual connection that contains one. */

static void dropout_case_forward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_FFN_INNER);
    dropout_forward(c->y, c->x, c->N, c->D, &site);
}

static void dropout_case_backward(void *self, Arena *arena) {
    (void)arena;
    Case *c = self;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_FFN_INNER);
    dropout_backward(c->dx, upstream(c, (size_t)(c->N * c->D)), c->N, c->D, &site);
}

static void check_dropout(const ProbeVisitor *v, const char *name, double rate, bool alias) {
    Case c = {.N = 12, .D = 10, .drop = probe_dropout(rate), .alias = alias};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){NULL, dropout_case_forward, dropout_case_backward});
    probe_input(&probe, "x", c.N, c.D, &c.x, &c.dx);
    probe_output(&probe, c.N * c.D, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_dropout(const ProbeVisitor *v) {
    check_dropout(v, "dropout", 0.4, false);
    check_dropout(v, "dropout, dx in place of dy", 0.4, true);
    check_dropout(v, "dropout off", 0, false);
}

static void residual_case_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    residual_bind(gradient ? &c->dresidual : &c->residual, b, "norm", c->D, c->residual.place);
    c->dresidual.place = c->residual.place;
}

/* The sublayer is f(in) = in * in * f, with an input f of its own, so that both of its sides carry a gradient. */
static void residual_case_forward(void *self, Arena *arena) {
    Case *c = self;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_SELF_RESIDUAL);
    const real *in = residual_enter(&c->residual_acts, c->x, &c->residual, c->N, arena);
    real *out = arena_reals(arena, "sublayer", c->N, c->D);
    for (int i = 0; i < c->N * c->D; i++) out[i] = in[i] * in[i] * c->f[i];
    residual_leave(c->y, &c->residual_acts, c->x, out, &c->residual, c->N, &site, arena);
}

static void residual_case_backward(void *self, Arena *arena) {
    Case *c = self;
    DropoutSite site = dropout_site(&c->drop, 1, DROPOUT_SELF_RESIDUAL);
    ResidualActs again;
    const real *in = residual_enter(&again, c->x, &c->residual, c->N, arena);
    real *dout = arena_reals(arena, "sublayer", c->N, c->D), *din = arena_reals(arena, "in", c->N, c->D);
    residual_leave_backward(c->dx, dout, &c->dresidual, upstream(c, (size_t)(c->N * c->D)), &c->residual_acts,
                            &c->residual, c->N, &site);
    for (int i = 0; i < c->N * c->D; i++) {
        c->df[i] = dout[i] * in[i] * in[i];
        din[i] = dout[i] * 2 * in[i] * c->f[i];
    }
    residual_enter_backward(c->dx, din, &c->dresidual, &c->residual_acts, &c->residual, c->N);
}

static void check_residual(const ProbeVisitor *v, const char *name, NormPlace place, double rate, bool alias) {
    Case c = {.N = 6, .D = 9, .residual = {.place = place}, .drop = probe_dropout(rate), .alias = alias};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){residual_case_bind, residual_case_forward, residual_case_backward});
    probe_input(&probe, "x", c.N, c.D, &c.x, &c.dx);
    probe_input(&probe, "f", c.N, c.D, &c.f, &c.df);
    probe_output(&probe, c.N * c.D, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_residual(const ProbeVisitor *v) {
    check_residual(v, "residual, post", NORM_POST, 0, false);
    check_residual(v, "residual, pre", NORM_PRE, 0, false);
    check_residual(v, "residual, post, dropout, in place", NORM_POST, 0.3, true);
    check_residual(v, "residual, pre, dropout, in place", NORM_PRE, 0.3, true);
}
