#include "measuring/made_up.h"

#include "base/memory.h"
#include "base/rng.h"

/* Measured on the 29,000 training pairs of Multi30k: the logarithm of a length, </s> counted. */
static const double SOURCE_MEAN = 2.667, SOURCE_DEVIATION = 0.291, TARGET_MEAN = 2.681, TARGET_DEVIATION = 0.324,
                    CORRELATION = 0.856;

static int length_of(double log_length) { return (int)fmax(2, round(exp(log_length))); }

static int zipf_id(Rng *rng, int vocab) {
    int pieces = vocab - ID_FIRST_PIECE;
    if (pieces < 1) return ID_FIRST_BYTE + (int)rng_below(rng, (uint64_t)(vocab - ID_FIRST_BYTE));
    return ID_FIRST_PIECE + (int)pow(pieces, rng_uniform(rng)) - 1; /* uniform in the logarithm of the rank */
}

static void side_fill(CorpusSide *side, const int *length, int pairs, int vocab, Rng *rng) {
    side->offset = memory_alloc((size_t)pairs + 1, sizeof(int64_t), "corpus offsets");
    for (int i = 0; i < pairs; i++) side->offset[i + 1] = side->offset[i] + length[i] - 1; /* without </s> */
    size_t total = (size_t)side->offset[pairs];
    side->ids = (IdList){memory_alloc(total, sizeof(int), "made-up corpus"), total, total};
    for (size_t i = 0; i < total; i++) side->ids.ids[i] = zipf_id(rng, vocab);
}

void made_up_corpus(Corpus *c, int pairs, int length, int source_vocab, int target_vocab, uint64_t seed) {
    Rng rng = {hash64(seed)};
    *c = (Corpus){.pairs = pairs, .lines = pairs};
    c->line = memory_alloc((size_t)pairs, sizeof(int), "corpus line numbers");
    int *source = memory_alloc((size_t)pairs, sizeof(int), "made-up corpus");
    int *target = memory_alloc((size_t)pairs, sizeof(int), "made-up corpus");
    for (int i = 0; i < pairs; i++) {
        double z = rng_normal(&rng), w = CORRELATION * z + sqrt(1 - CORRELATION * CORRELATION) * rng_normal(&rng);
        source[i] = length ? length : length_of(SOURCE_MEAN + SOURCE_DEVIATION * z);
        target[i] = length ? length : length_of(TARGET_MEAN + TARGET_DEVIATION * w);
        c->line[i] = i;
    }
    side_fill(&c->source, source, pairs, source_vocab, &rng);
    side_fill(&c->target, target, pairs, target_vocab, &rng);
    memory_free(source);
    memory_free(target);
}
