#include "study/memory_gradient.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

/* The summed objective; with dhidden also the gradient of its mean. One chunk: the sentences are few. */
static LossSums hidden_loss(real *dhidden, Transformer *dp, const real *hidden, const ModelCheck *c) {
    const Linear *output = &c->p->output;
    int N = packed_rows(&c->batch->target);
    LossActs a = loss_acts(N, output->out, c->arena);
    LossSums sums = {0};
    loss_forward(&sums, NULL, &a, hidden, c->batch->target_out, output, c->smoothing, N);
    if (dhidden != NULL)
        loss_backward(dhidden, &dp->output, &a, hidden, c->batch->target_out, output, c->smoothing, 1.0 / N, N);
    return sums;
}

/* Forward and backward of the decoder, with other weights in the backward. */
typedef struct Decoding {
    const ModelCheck *c;
    TransformerActs acts;
    real *dhidden;  /* [N,D] */
    real *backward; /* [table->total] the weights of the backward */
    Transformer p, dp;
} Decoding;

static void decoder_gradient(real *dmemory, const Decoding *d) {
    const ModelCheck *c = d->c;
    ArenaMark mark = arena_mark(c->arena);
    int N = packed_rows(&c->batch->target), D = c->p->output.in;
    real *dhidden = arena_reals(c->arena, "hidden", N, D); /* overwritten on its way down */
    Transformer dp = d->dp;
    memcpy(dhidden, d->dhidden, (size_t)N * (size_t)D * sizeof(real));
    decoder_backward(&dp.decoder, dmemory, dhidden, c->batch->target_in, &c->batch->target, &c->batch->source,
                     &d->acts.decoder, &d->p.decoder, c->arena);
    arena_release(c->arena, mark);
}

static void clear_projections(Decoder *p) {
    for (int l = 0; l < p->layers; l++) {
        const Linear *k = &p->layer[l].encoder_attn.k_proj, *v = &p->layer[l].encoder_attn.v_proj;
        memset(k->W, 0, (size_t)k->out * (size_t)k->in * sizeof(real));
        memset(v->W, 0, (size_t)v->out * (size_t)v->in * sizeof(real));
    }
}

/* The part that comes through `only`, a projection of d->p; `whole` is the same one of the model. */
static void part_gradient(real *dmemory, const Decoding *d, const Linear *only, const Linear *whole) {
    size_t bytes = (size_t)only->out * (size_t)only->in * sizeof(real);
    memcpy(only->W, whole->W, bytes);
    decoder_gradient(dmemory, d);
    memset(only->W, 0, bytes);
}

void memory_gradient_init(MemoryGradient *g, const ModelCheck *c) {
    const ModelConfig *config = &c->p->config;
    int M = packed_rows(&c->batch->source), N = packed_rows(&c->batch->target), D = config->encoder_width;
    size_t size = (size_t)M * (size_t)D, total = c->table->total;
    *g = (MemoryGradient){.rows = M, .cols = D, .layers = config->decoder_layers};
    g->value = memory_alloc(size, sizeof(real), "gradient of memory");
    g->whole = memory_alloc(size, sizeof(real), "gradient of memory");
    g->keys = memory_alloc(size * (size_t)g->layers, sizeof(real), "gradient of memory");
    g->values = memory_alloc(size * (size_t)g->layers, sizeof(real), "gradient of memory");
    real *gradients = memory_alloc(total, sizeof(real), "gradient of memory");
    ArenaMark mark = arena_mark(c->arena);
    Decoding d = {.c = c, .backward = memory_alloc(total, sizeof(real), "gradient of memory")};
    memcpy(d.backward, c->parameters, total * sizeof(real));
    transformer_init(&d.p, config, d.backward);
    transformer_init(&d.dp, config, gradients);
    transformer_forward(&d.acts, c->batch, c->p, c->positions, c->draw, c->arena);
    d.dhidden = arena_reals(c->arena, "hidden", N, config->decoder_width);
    hidden_loss(d.dhidden, &d.dp, d.acts.decoder.hidden, c);
    memcpy(g->value, d.acts.encoder.memory, size * sizeof(real));

    decoder_gradient(g->whole, &d);
    clear_projections(&d.p.decoder);
    for (int l = 0; l < g->layers; l++) {
        const Attention *only = &d.p.decoder.layer[l].encoder_attn, *whole = &c->p->decoder.layer[l].encoder_attn;
        part_gradient(g->keys + (size_t)l * size, &d, &only->k_proj, &whole->k_proj);
        part_gradient(g->values + (size_t)l * size, &d, &only->v_proj, &whole->v_proj);
    }
    arena_release(c->arena, mark);
    transformer_free(&d.p);
    transformer_free(&d.dp);
    memory_free(d.backward);
    memory_free(gradients);
}

void memory_gradient_free(MemoryGradient *g) {
    memory_free(g->value);
    memory_free(g->whole);
    memory_free(g->keys);
    memory_free(g->values);
    *g = (MemoryGradient){0};
}

typedef struct Moved {
    const ModelCheck *c;
    const real *memory;
} Moved;

static void moved_forward(DecoderActs *a, const Moved *m) {
    const ModelCheck *c = m->c;
    const Batch *b = c->batch;
    Dropout drop = dropout_draw(c->draw, &c->p->config.dropout, 1, &b->target, b->index, c->arena);
    decoder_forward(a, b->target_in, m->memory, &b->target, &b->source, &c->p->decoder, &c->positions->target, drop,
                    c->arena);
}

static double moved_loss(void *context) {
    const Moved *m = context;
    ArenaMark mark = arena_mark(m->c->arena);
    DecoderActs a;
    moved_forward(&a, m);
    LossSums sums = hidden_loss(NULL, NULL, a.hidden, m->c);
    arena_release(m->c->arena, mark);
    return sums.objective / (double)sums.tokens;
}

static uint64_t moved_pattern(void *context) {
    const Moved *m = context;
    ArenaMark mark = arena_mark(m->c->arena);
    DecoderActs a;
    moved_forward(&a, m);
    uint64_t hash = decoder_pattern(0, &a, &m->c->p->decoder, packed_rows(&m->c->batch->target));
    arena_release(m->c->arena, mark);
    return hash;
}

GradientResult memory_gradient_check(const MemoryGradient *g, const ModelCheck *c, size_t most,
                                     GradientTensor *tensor) {
    Moved moved = {c, g->value};
    *tensor = (GradientTensor){.name = "memory",
                               .value = g->value,
                               .analytic = g->whole,
                               .count = (size_t)g->rows * (size_t)g->cols,
                               .rows = g->rows,
                               .cols = g->cols};
    GradientCheck check = {.loss = moved_loss,
                           .pattern = c->p->config.activation == ACTIVATION_RELU ? moved_pattern : NULL,
                           .context = &moved,
                           .tensor = tensor,
                           .tensors = 1,
                           .every = 1,
                           .most = most,
                           .step = GRADIENT_CHECK_STEP,
                           .relative = GRADIENT_CHECK_RELATIVE};
    return gradient_check(&check, NULL);
}

void memory_gradient_print(const MemoryGradient *g, FILE *out) {
    size_t size = (size_t)g->rows * (size_t)g->cols;
    fprintf(
        out,
        "\nThe encoder's output [%d,%d] receives its gradient twice from the cross-attention of every decoder layer:\n"
        "through keys (where to look) and through values (what comes back). Norms of the parts, and of their sum:\n"
        "  layer  through keys  through values\n",
        g->rows, g->cols);
    for (int l = 0; l < g->layers; l++)
        fprintf(out, "  %5d  %12.4e  %14.4e\n", l, sqrt(vec_sum_squares(g->keys + (size_t)l * size, (int64_t)size)),
                sqrt(vec_sum_squares(g->values + (size_t)l * size, (int64_t)size)));
    fprintf(out, "  sum    %12.4e\n", sqrt(vec_sum_squares(g->whole, (int64_t)size)));
}
