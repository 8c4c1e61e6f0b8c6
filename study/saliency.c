#include "study/saliency.h"

#include "base/memory.h"
#include "base/vec.h"

/* dx [S,D_enc], overwritten: the gradient of log p(y_t) at the encoder's embedding. Row t of the output layer's loss is
 * -log p(y_t): a scale of -1 turns it round, and no other row of dhidden has any part in it. */
static void gradient_of_token(real *dx, int t, Transformer *dp, const TransformerActs *a, const Batch *b,
                              const Transformer *p, Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    int S = packed_rows(&b->source), T = packed_rows(&b->target), D = p->output.in;
    LossActs loss = loss_acts(1, p->output.out, arena);
    LossSums sums = {0};
    real *dhidden = arena_reals(arena, "hidden", T, D);
    const real *hidden_t = a->decoder.hidden + (size_t)t * (size_t)D;
    vec_fill(dhidden, 0, T * D);
    vec_fill(dx, 0, S * p->config.encoder_width);
    loss_forward(&sums, NULL, &loss, hidden_t, b->target_out + t, &p->output, 0, 1);
    loss_backward(dhidden + (size_t)t * (size_t)D, &dp->output, &loss, hidden_t, b->target_out + t, &p->output, 0, -1,
                  1);
    decoder_backward(&dp->decoder, dx, dhidden, b->target_in, &b->target, &b->source, &a->decoder, &p->decoder, arena);
    encoder_backward(&dp->encoder, dx, b->source_ids, &b->source, &a->encoder, &p->encoder, arena);
    arena_release(arena, mark);
}

void saliency_run(real *saliency, const Batch *b, const Transformer *p, const TransformerPositions *positions) {
    int S = packed_rows(&b->source), T = packed_rows(&b->target), D = p->config.encoder_width;
    ParamTable table = transformer_table(&p->config);
    real *slab = memory_alloc(table.total, sizeof(real), "gradients that saliency has no use for");
    Transformer dp;
    TransformerActs acts;
    Arena arena;
    transformer_init(&dp, &p->config, slab);
    arena_init(&arena, "saliency");
    transformer_forward(&acts, b, p, positions, NULL, &arena);
    real *dx = arena_reals(&arena, "encoder embedding", S, D), scale = sqrt((real)D);
    for (int t = 0; t < T; t++) {
        gradient_of_token(dx, t, &dp, &acts, b, p, &arena);
        for (int s = 0; s < S; s++)
            saliency[t * S + s] = scale * vec_dot(dx + (size_t)s * (size_t)D,
                                                  p->encoder.embedding.E + (size_t)b->source_ids[s] * (size_t)D, D);
    }
    arena_free(&arena);
    transformer_free(&dp);
    memory_free(slab);
    param_table_free(&table);
}
