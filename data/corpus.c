#include "data/corpus.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"

static void encode_side(CorpusSide *side, const Lines *lines, const Tokenizer *tokenizer, Progress *progress) {
    TextEncoder *encoder = text_encoder_new(tokenizer);
    side->offset = memory_alloc(lines->count + 1, sizeof *side->offset, "corpus offsets");
    for (size_t i = 0; i < lines->count; i++) {
        tokenizer_encode(encoder, lines->line[i].text, lines->line[i].length, &side->ids);
        side->offset[i + 1] = (int64_t)side->ids.count;
        progress_add(progress, 1);
    }
    text_encoder_free(encoder);
}

void corpus_encode(Corpus *c, const ParallelText *text, const Tokenizer *source, const Tokenizer *target) {
    assert(text->source.count == text->target.count);
    *c = (Corpus){.lines = (int)text->source.count, .pairs = (int)text->source.count};
    c->line = memory_alloc((size_t)c->pairs, sizeof *c->line, "corpus line numbers");
    for (int i = 0; i < c->pairs; i++) c->line[i] = i;
    Progress progress;
    progress_begin(&progress, "encoding the corpus", 2 * (int64_t)c->pairs);
    encode_side(&c->source, &text->source, source, &progress);
    encode_side(&c->target, &text->target, target, &progress);
    progress_end(&progress);
}

void corpus_free(Corpus *c) {
    id_list_free(&c->source.ids);
    id_list_free(&c->target.ids);
    memory_free(c->source.offset);
    memory_free(c->target.offset);
    memory_free(c->line);
    *c = (Corpus){0};
}

/* A character spelled by byte tokens has one token that is no continuation byte (10xxxxxx). */
static bool begins_bytes(int id) {
    return id >= ID_FIRST_BYTE && id < ID_FIRST_BYTE + 256 && ((id - ID_FIRST_BYTE) & 0xC0) != 0x80;
}

SideCounts corpus_count(const CorpusSide *side, int pairs) {
    SideCounts counts = {.tokens = side->offset[pairs]};
    for (int i = 0; i < pairs; i++) {
        int length = corpus_length(side, i);
        counts.longest = length > counts.longest ? length : counts.longest;
    }
    for (int64_t i = 0; i < counts.tokens; i++) counts.in_bytes += begins_bytes(side->ids.ids[i]);
    return counts;
}

static uint64_t side_hash(const CorpusSide *side, int pairs) {
    uint64_t hash = hash64((uint64_t)pairs);
    for (int i = 0; i < pairs; i++) {
        hash = hash_fold(hash, (uint64_t)side->offset[i + 1]);
        for (int64_t j = side->offset[i]; j < side->offset[i + 1]; j++)
            hash = hash_fold(hash, (uint64_t)side->ids.ids[j]);
    }
    return hash;
}

uint64_t corpus_hash(const Corpus *c) {
    uint64_t hash = hash_fold(side_hash(&c->source, c->pairs), side_hash(&c->target, c->pairs));
    for (int i = 0; i < c->pairs; i++) hash = hash_fold(hash, (uint64_t)c->line[i]);
    return hash;
}

/* Offsets of the pairs' sentences, each one longer than its ids by </s> (or <s>). */
static Packed pack(const CorpusSide *side, const int *pairs, int count, Arena *arena) {
    Packed packed = {count, arena_array(arena, int, "sentence offsets", count + 1)};
    packed.offset[0] = 0;
    for (int i = 0; i < count; i++) packed.offset[i + 1] = packed.offset[i] + corpus_length(side, pairs[i]) + 1;
    return packed;
}

Batch corpus_batch(const Corpus *c, const int *pairs, int count, Arena *arena) {
    Batch b = {.source = pack(&c->source, pairs, count, arena), .target = pack(&c->target, pairs, count, arena)};
    b.source_ids = arena_array(arena, int, "source ids", packed_rows(&b.source));
    b.target_in = arena_array(arena, int, "target input ids", packed_rows(&b.target));
    b.target_out = arena_array(arena, int, "target output ids", packed_rows(&b.target));
    b.index = arena_array(arena, int64_t, "sentence index", count);
    for (int i = 0; i < count; i++) {
        const int *x = c->source.ids.ids + c->source.offset[pairs[i]];
        const int *y = c->target.ids.ids + c->target.offset[pairs[i]];
        int n = corpus_length(&c->source, pairs[i]), m = corpus_length(&c->target, pairs[i]);
        int s = b.source.offset[i], t = b.target.offset[i];
        memcpy(b.source_ids + s, x, (size_t)n * sizeof(int));
        memcpy(b.target_in + t + 1, y, (size_t)m * sizeof(int));
        memcpy(b.target_out + t, y, (size_t)m * sizeof(int));
        b.source_ids[s + n] = ID_EOS;
        b.target_in[t] = ID_BOS;
        b.target_out[t + m] = ID_EOS;
        b.index[i] = c->line[pairs[i]];
    }
    return b;
}
