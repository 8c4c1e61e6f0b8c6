#include "decoding/step_cache.h"

#include <assert.h>
#include <string.h>

#include "model/tile.h"

StepCache step_cache_new(Packed source, int width, int capacity, int layers, AttentionShape shape, Arena *arena) {
    int sentences = source.sentences, HK = shape.heads * shape.d_k, HV = shape.heads * shape.d_v;
    StepCache c = {.slots = sentences * width, .width = width, .layers = layers, .shape = shape, .source = source};
    c.watched_layer = c.watched_head = -1;
    c.length = arena_array(arena, int, "target lengths", sentences);
    c.padded = arena_array(arena, int, "padded offsets", sentences + 1);
    c.padded[0] = 0;
    for (int s = 0; s < sentences; s++) {
        c.length[s] = 0;
        c.padded[s + 1] = c.padded[s] + tile_pad(packed_length(&source, s));
    }
    c.most_chunks = (capacity + STEP_CHUNK - 1) / STEP_CHUNK;
    c.chunk = arena_array(arena, StepChunk, "chunks", c.most_chunks);
    c.of_source = arena_array(arena, SourceCache, "source caches", layers);
    for (int l = 0; l < layers; l++)
        c.of_source[l] = (SourceCache){arena_reals(arena, "source keys", c.padded[sentences], HK),
                                       arena_reals(arena, "source values", packed_rows(&source), HV)};
    return c;
}

static void add_chunk(StepCache *cache, Arena *arena) {
    int rows = STEP_CHUNK * cache->slots, layers = cache->layers;
    assert(cache->chunks < cache->most_chunks);
    StepChunk *c = &cache->chunk[cache->chunks++];
    c->token = arena_array(arena, StepToken, "tokens", rows);
    c->k = arena_array(arena, real *, "cached keys", layers);
    c->v = arena_array(arena, real *, "cached values", layers);
    c->attention = NULL;
    if (cache->watched_layer >= 0)
        c->attention =
            arena_reals(arena, "kept cross-attention", STEP_CHUNK * cache->width, packed_rows(&cache->source));
    for (int l = 0; l < layers; l++) {
        c->k[l] = arena_reals(arena, "cached keys", rows, cache->shape.heads * cache->shape.d_k);
        c->v[l] = arena_reals(arena, "cached values", rows, cache->shape.heads * cache->shape.d_v);
    }
}

void step_cache_append(StepCache *cache, const StepRows *rows, Arena *arena) {
    int previous = -1;
    for (int r = 0; r < rows->count; r++) {
        int slot = rows->slot[r], s = step_sentence(cache, slot);
        if (s != previous) cache->length[s]++;
        previous = s;
        int place = cache->length[s] - 1;
        if (place / STEP_CHUNK == cache->chunks) add_chunk(cache, arena);
        cache->chunk[place / STEP_CHUNK].token[step_row(cache, place, slot)] = rows->token[r];
    }
}
