#include "tests/support/searcher.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

static const int banned[] = {ID_BOS, ID_PAD, ID_UNK, SEARCHER_BANNED};

void searcher_init(Searcher *s, ModelConfig config, double spread, uint64_t seed) {
    *s = (Searcher){.config = config};
    s->limits = (DecodeLimits){.max_length_factor = 1.5, .max_length_extra = 6, .banned = banned, .banned_count = 4};
    small_model_init(&s->m, &config, seed);
    small_model_stir(&s->m, seed + 1);
    size_t size = s->m.table.total;
    for (size_t i = 0; i < size; i++) s->m.parameters[i] *= (real)spread;
    real *end = s->m.p.output.W + ID_EOS * config.decoder_width;
    for (int d = 0; d < config.decoder_width; d++) end[d] *= 3;
    step_model_init(&s->model, &s->m.p, &s->m.positions);
}

void searcher_free(Searcher *s) {
    step_model_free(&s->model);
    small_model_free(&s->m);
}

Batch searcher_sources(const ModelConfig *config, uint64_t seed) {
    int length[SEARCHER_SENTENCES];
    Rng rng = {seed};
    for (int s = 0; s < SEARCHER_SENTENCES; s++) length[s] = 1 + (int)rng_below(&rng, 20);
    return small_batch(config, SEARCHER_SENTENCES, length, length, seed);
}

BeamOptions searcher_options(int beam_size, int n_best, double length_penalty) {
    return (BeamOptions){.beam_size = beam_size,
                         .n_best = n_best,
                         .length_penalty = length_penalty,
                         .scores = true,
                         .layer = -1,
                         .head = -1};
}

void searcher_decode(Hypothesis *out, Searcher *s, const Batch *b, const BeamOptions *options) {
    beam_decode(out, &s->model, 1, &(BeamSources){.ids = b->source_ids, .rows = b->source}, &s->limits, options,
                &s->m.arena);
}

void searcher_free_all(Hypothesis *h, int count) {
    for (int i = 0; i < count; i++) hypothesis_free(&h[i]);
}

Batch searcher_pair(const Batch *b, int i, const int *ids, int count) {
    int source_length = packed_length(&b->source, i), target_length = count + 1;
    ModelConfig any = {.source_vocab = SMALL_VOCAB, .target_vocab = SMALL_VOCAB};
    Batch pair = small_batch(&any, 1, &source_length, &target_length, 1);
    memcpy(pair.source_ids, b->source_ids + b->source.offset[i], (size_t)source_length * sizeof(int));
    if (count > 0) memcpy(pair.target_in + 1, ids, (size_t)count * sizeof(int));
    if (count > 0) memcpy(pair.target_out, ids, (size_t)count * sizeof(int));
    pair.target_out[count] = ID_EOS;
    return pair;
}

double searcher_log_p(Searcher *s, const Batch *b, int i, const int *ids, int count) {
    Batch pair = searcher_pair(b, i, ids, count);
    double nll = transformer_loss(NULL, &pair, &s->m.p, &s->m.positions, 0, NULL, &s->m.arena).nll;
    small_batch_free(&pair);
    return -nll;
}
