#include "study/model_check.h"

#include <string.h>

#include "base/rng.h"
#include "study/probe.h"

double model_check_loss(void *context) {
    const ModelCheck *c = context;
    LossSums sums =
        c->rdrop > 0 ? transformer_rdrop_loss(c->batch, c->p, c->positions, c->smoothing, c->rdrop, c->draw, c->arena)
                     : transformer_loss(NULL, c->batch, c->p, c->positions, c->smoothing, c->draw, c->arena);
    return sums.objective / (double)sums.tokens;
}

static uint64_t fold_signs(uint64_t hash, const real *h, size_t count) {
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        bits = bits << 1 | (h[i] > 0);
        if (i % 64 == 63 || i + 1 == count) hash = hash_fold(hash, bits);
    }
    return hash;
}

uint64_t decoder_pattern(uint64_t hash, const DecoderActs *a, const Decoder *p, int N) {
    for (int l = 0; l < p->layers; l++)
        hash = fold_signs(hash, a->layer[l].ffn.h, (size_t)N * (size_t)p->layer[l].ffn.fc1.out);
    return hash;
}

static uint64_t pass_pattern(uint64_t hash, const ModelCheck *c, const DropoutDraw *draw) {
    const Encoder *p = &c->p->encoder;
    size_t M = (size_t)packed_rows(&c->batch->source);
    ArenaMark mark = arena_mark(c->arena);
    TransformerActs a;
    transformer_forward(&a, c->batch, c->p, c->positions, draw, c->arena);
    for (int l = 0; l < p->layers; l++)
        hash = fold_signs(hash, a.encoder.layer[l].ffn.h, M * (size_t)p->layer[l].ffn.fc1.out);
    hash = decoder_pattern(hash, &a.decoder, &c->p->decoder, packed_rows(&c->batch->target));
    arena_release(c->arena, mark);
    return hash;
}

uint64_t model_check_pattern(void *context) {
    const ModelCheck *c = context;
    uint64_t hash = pass_pattern(0, c, c->draw);
    if (!(c->rdrop > 0)) return hash;
    DropoutDraw second = *c->draw;
    second.copy = 1;
    return pass_pattern(hash, c, &second);
}

/* Two times add up in the gradient slab; half of their sum is the gradient. */
void model_check_gradient(ModelCheck *c) {
    double scale = 0.5 / packed_rows(&c->batch->target);
    memset(c->gradients, 0, c->table->total * sizeof(real));
    for (int time = 0; time < 2; time++) {
        if (c->rdrop > 0)
            transformer_rdrop_gradient(c->dp, c->batch, c->p, c->positions, c->smoothing, c->rdrop, scale, c->draw,
                                       c->arena);
        else
            transformer_gradient(c->dp, c->batch, c->p, c->positions, c->smoothing, scale, c->draw, c->arena);
    }
}

static bool is_single(const Packed *rows) { return packed_rows(rows) == rows->sentences; }

static bool has_part(const char *name, const char *part) { return strstr(name, part) != NULL; }

/* Where every sentence has one key, queries and keys decide nothing. */
static const char *zero_reason(const char *name, const Batch *b) {
    static const char ONE_KEY[] = "every sentence has one token, whose weight is 1";
    if (has_part(name, "k_proj.bias")) return PROBE_KEY_BIAS;
    bool target_keys = has_part(name, "decoder") && has_part(name, "self_attn.");
    bool decides = has_part(name, "q_proj.") || has_part(name, "k_proj.");
    return decides && is_single(target_keys ? &b->target : &b->source) ? ONE_KEY : NULL;
}

void model_check_tensors(GradientTensor *tensor, const ModelCheck *c) {
    for (int i = 0; i < c->table->count; i++) {
        const Param *p = &c->table->param[i];
        tensor[i] = (GradientTensor){.name = p->name,
                                     .value = c->parameters + p->offset,
                                     .analytic = c->gradients + p->offset,
                                     .count = param_size(p),
                                     .zero = zero_reason(p->name, c->batch),
                                     .rows = p->rank == 1 ? 0 : p->rows,
                                     .cols = p->cols};
    }
}
