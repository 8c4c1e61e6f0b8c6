#include "data/corpus.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/text_file.h"

bool parallel_text_read(ParallelText *text, const char *source_path, const char *target_path, Error *error) {
    *text = (ParallelText){0};
    bool good = text_file_read(&text->source, source_path, error) && text_file_read(&text->target, target_path, error);
    if (good && text->source.count != text->target.count)
        good = error_set(error, "%s has %zu lines but %s has %zu; line i of one must translate line i of the other",
                         source_path, text->source.count, target_path, text->target.count);
    if (good && text->source.count > INT32_MAX)
        good = error_set(error, "%s: more than 2^31 lines; split the corpus", source_path);
    if (!good) parallel_text_free(text);
    return good;
}

void parallel_text_free(ParallelText *text) {
    lines_free(&text->source);
    lines_free(&text->target);
}

/* Appends the ids of a line as pair number `pair` and returns how many they are. */
static int append(CorpusSide *side, int pair, TextEncoder *encoder, Line line) {
    side->ids.count = (size_t)side->offset[pair]; /* a dropped pair is written over */
    tokenizer_encode(encoder, line.text, line.length, &side->ids);
    side->offset[pair + 1] = (int64_t)side->ids.count;
    return corpus_length(side, pair);
}

void corpus_encode(Corpus *c, const ParallelText *text, const Tokenizer *source, const Tokenizer *target,
                   int max_length) {
    *c = (Corpus){.lines = (int)text->source.count};
    size_t most = text->source.count;
    c->source.offset = memory_alloc(most + 1, sizeof(int64_t), "corpus offsets");
    c->target.offset = memory_alloc(most + 1, sizeof(int64_t), "corpus offsets");
    c->line = memory_alloc(most, sizeof(int), "corpus line numbers");
    TextEncoder *source_encoder = text_encoder_new(source), *target_encoder = text_encoder_new(target);
    for (int i = 0; i < c->lines; i++) {
        int s = append(&c->source, c->pairs, source_encoder, text->source.line[i]);
        int t = append(&c->target, c->pairs, target_encoder, text->target.line[i]);
        if (s == 0 || t == 0 || line_is_blank(text->source.line[i]) || line_is_blank(text->target.line[i])) {
            c->empty_side++;
        } else if (max_length > 0 && (s > max_length || t > max_length)) {
            c->too_long++;
        } else {
            c->line[c->pairs++] = i;
            c->longest_source = s > c->longest_source ? s : c->longest_source;
            c->longest_target = t > c->longest_target ? t : c->longest_target;
        }
    }
    c->source.ids.count = (size_t)c->source.offset[c->pairs];
    c->target.ids.count = (size_t)c->target.offset[c->pairs];
    text_encoder_free(source_encoder);
    text_encoder_free(target_encoder);
}

void corpus_free(Corpus *c) {
    id_list_free(&c->source.ids);
    id_list_free(&c->target.ids);
    memory_free(c->source.offset);
    memory_free(c->target.offset);
    memory_free(c->line);
    *c = (Corpus){0};
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
