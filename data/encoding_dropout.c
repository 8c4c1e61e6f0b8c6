#include "data/encoding_dropout.h"

#include "base/memory.h"
#include "base/rng.h"

void encoding_dropout_init(EncodingDropout *d, const ParallelText *text, const Tokenizer *source,
                           const Tokenizer *target, double rate, int max_length, uint64_t seed) {
    *d = (EncodingDropout){.text = text, .rate = rate, .max_length = max_length, .seed = seed};
    d->source = text_encoder_new(source);
    d->target = text_encoder_new(target);
}

void encoding_dropout_free(EncodingDropout *d) {
    text_encoder_free(d->source);
    text_encoder_free(d->target);
    corpus_free(&d->drawn);
    memory_free(d->place);
    *d = (EncodingDropout){0};
}

EncodingDropout *encoding_dropout_start(EncodingDropout *d, int64_t update) {
    d->update = update;
    d->drawn.pairs = 0;
    return d->rate > 0 ? d : NULL;
}

/* Room for one more pair. */
static void reserve(EncodingDropout *d) {
    if (d->drawn.pairs < d->capacity) return;
    size_t old = (size_t)d->capacity, more = old ? 2 * old : 256;
    size_t offsets = old ? old + 1 : 0; /* one more than pairs */
    d->drawn.source.offset = memory_grow(d->drawn.source.offset, offsets, more + 1, sizeof(int64_t), "BPE-dropout");
    d->drawn.target.offset = memory_grow(d->drawn.target.offset, offsets, more + 1, sizeof(int64_t), "BPE-dropout");
    d->drawn.line = memory_grow(d->drawn.line, old, more, sizeof(int), "BPE-dropout");
    d->place = memory_grow(d->place, old, more, sizeof(int), "BPE-dropout");
    for (size_t i = old; i < more; i++) d->place[i] = (int)i;
    d->capacity = (int)more;
}

typedef struct Draw {
    double rate;
    uint64_t seed; /* of this pair in this update */
    int max_length;
} Draw;

/* Appends a line as pair number `pair`; again without dropout if it came out too long. */
static void append(CorpusSide *side, int pair, TextEncoder *encoder, Line line, uint64_t which, const Draw *draw) {
    side->ids.count = (size_t)side->offset[pair];
    tokenizer_encode_dropout(encoder, line.text, line.length, draw->rate, hash_fold(draw->seed, which), &side->ids);
    if (draw->max_length > 0 && side->ids.count - (size_t)side->offset[pair] > (size_t)draw->max_length) {
        side->ids.count = (size_t)side->offset[pair];
        tokenizer_encode(encoder, line.text, line.length, &side->ids);
    }
    side->offset[pair + 1] = (int64_t)side->ids.count;
}

int encoding_dropout_draw(EncodingDropout *d, const Corpus *corpus, int pair) {
    enum { SOURCE, TARGET };
    int line = corpus->line[pair], place = d->drawn.pairs;
    uint64_t update = hash_fold(hash64(d->seed), (uint64_t)d->update);
    Draw draw = {d->rate, hash_fold(update, (uint64_t)line), d->max_length};
    reserve(d);
    append(&d->drawn.source, place, d->source, d->text->source.line[line], SOURCE, &draw);
    append(&d->drawn.target, place, d->target, d->text->target.line[line], TARGET, &draw);
    d->drawn.line[place] = line;
    d->drawn.pairs++;
    return place;
}
