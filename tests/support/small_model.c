#include "tests/support/small_model.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

ModelConfig small_config(NormPlace norm, Activation activation, TieEmbeddings tie) {
    bool alike = tie == TIE_ALL;
    return (ModelConfig){.source_vocab = alike ? SMALL_VOCAB : SMALL_VOCAB - 4,
                         .target_vocab = SMALL_VOCAB,
                         .encoder_width = alike ? 8 : 6,
                         .decoder_width = 8,
                         .encoder_layers = 2,
                         .decoder_layers = 2,
                         .heads = 2,
                         .d_k = 3,
                         .d_v = 5,
                         .ffn_dim = 10,
                         .norm = norm,
                         .activation = activation,
                         .tie = tie,
                         .qkv_gain = 1};
}

void small_model_init(SmallModel *m, const ModelConfig *config, uint64_t seed) {
    *m = (SmallModel){.table = transformer_table(config)};
    m->parameters = memory_alloc(m->table.total, sizeof(real), "test model");
    m->gradients = memory_alloc(m->table.total, sizeof(real), "test model");
    param_init(m->parameters, &m->table, seed);
    transformer_init(&m->p, config, m->parameters);
    transformer_init(&m->dp, config, m->gradients);
    transformer_positions_init(&m->positions, config);
    arena_init(&m->arena, "test model");
}

void small_model_free(SmallModel *m) {
    transformer_free(&m->p);
    transformer_free(&m->dp);
    transformer_positions_free(&m->positions);
    memory_free(m->parameters);
    memory_free(m->gradients);
    param_table_free(&m->table);
    arena_free(&m->arena);
}

void small_model_stir(SmallModel *m, uint64_t seed) {
    Rng rng = {hash64(seed)};
    for (size_t i = 0; i < m->table.total; i++) m->parameters[i] += (real)(0.2 * rng_normal(&rng));
}

static Packed pack(int sentences, const int *lengths) {
    Packed p = {sentences, memory_alloc((size_t)sentences + 1, sizeof(int), "test batch")};
    for (int s = 0; s < sentences; s++) p.offset[s + 1] = p.offset[s] + lengths[s];
    return p;
}

static int *take_ids(const Packed *p) { return memory_alloc((size_t)packed_rows(p), sizeof(int), "test batch"); }

/* Words are any ids behind the special ones; the last of each sentence is </s>. */
static void draw_ids(int *ids, const Packed *p, int vocab, Rng *rng) {
    for (int s = 0; s < p->sentences; s++) {
        for (int n = p->offset[s]; n < p->offset[s + 1]; n++)
            ids[n] = ID_FIRST_BYTE + (int)rng_below(rng, (uint64_t)(vocab - ID_FIRST_BYTE));
        ids[p->offset[s + 1] - 1] = ID_EOS;
    }
}

Batch small_batch(const ModelConfig *config, int sentences, const int *source_lengths, const int *target_lengths,
                  uint64_t seed) {
    Rng rng = {hash64(seed)};
    Batch b = {.source = pack(sentences, source_lengths), .target = pack(sentences, target_lengths)};
    b.source_ids = take_ids(&b.source);
    b.target_in = take_ids(&b.target);
    b.target_out = take_ids(&b.target);
    b.index = memory_alloc((size_t)sentences, sizeof *b.index, "test batch");
    draw_ids(b.source_ids, &b.source, config->source_vocab, &rng);
    draw_ids(b.target_out, &b.target, config->target_vocab, &rng);
    for (int s = 0; s < sentences; s++) {
        int start = b.target.offset[s];
        b.index[s] = 100 + s;
        b.target_in[start] = ID_BOS;
        memcpy(b.target_in + start + 1, b.target_out + start, (size_t)(target_lengths[s] - 1) * sizeof(int));
    }
    return b;
}

void small_batch_free(Batch *b) {
    memory_free(b->source.offset);
    memory_free(b->target.offset);
    memory_free(b->source_ids);
    memory_free(b->target_in);
    memory_free(b->target_out);
    memory_free(b->index);
    *b = (Batch){0};
}

static Packed pack_chosen(const Packed *whole, int count, const int *chosen) {
    Packed p = {count, memory_alloc((size_t)count + 1, sizeof(int), "test batch")};
    for (int s = 0; s < count; s++) p.offset[s + 1] = p.offset[s] + packed_length(whole, chosen[s]);
    return p;
}

static int *ids_chosen(const int *ids, const Packed *whole, const Packed *p, const int *chosen) {
    int *copy = take_ids(p);
    for (int s = 0; s < p->sentences; s++)
        memcpy(copy + p->offset[s], ids + whole->offset[chosen[s]], (size_t)packed_length(p, s) * sizeof(int));
    return copy;
}

Batch small_batch_choose(const Batch *whole, int count, const int *chosen) {
    Batch b = {.source = pack_chosen(&whole->source, count, chosen),
               .target = pack_chosen(&whole->target, count, chosen)};
    b.source_ids = ids_chosen(whole->source_ids, &whole->source, &b.source, chosen);
    b.target_in = ids_chosen(whole->target_in, &whole->target, &b.target, chosen);
    b.target_out = ids_chosen(whole->target_out, &whole->target, &b.target, chosen);
    b.index = memory_alloc((size_t)count, sizeof *b.index, "test batch");
    for (int s = 0; s < count; s++) b.index[s] = whole->index[chosen[s]];
    return b;
}
