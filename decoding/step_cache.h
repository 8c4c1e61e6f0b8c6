/* What a group of sentences has in memory while it is decoded: the encoder's output as keys and values of every
 * decoder layer, and the tokens of all hypotheses with theirs.
 *
 * A sentence has `width` slots, one a hypothesis (slots s width .. of sentence s). At each place of the target, <s> standing
 * at place 0, a slot holds one token at most, which is written once and names the slot of the token before it. So the
 * hypotheses of a sentence are a tree: when a beam is reordered nothing is copied, and a hypothesis is the path from its
 * last token back to <s>. Memory is taken for STEP_CHUNK places at a time, as far as the targets really go. */
#ifndef DECODING_STEP_CACHE_H
#define DECODING_STEP_CACHE_H

#include "base/arena.h"
#include "base/batch.h"
#include "model/attention_core.h"

enum { STEP_CHUNK = 32 };

typedef struct StepToken {
    int id, parent; /* parent: the slot of the token before; at place 0 without meaning */
    double log_p;   /* of the token, where the search wants to know it later */
} StepToken;

/* The rows of a step: each gives one token to one slot. Those of a sentence stand together, and it has at least one as
 * long as it is decoded. */
typedef struct StepRows {
    int count;
    int *slot;        /* [count] each once */
    StepToken *token; /* [count] */
} StepRows;

/* STEP_CHUNK places of all slots: place t, slot s is row (t % STEP_CHUNK) slots + s. */
typedef struct StepChunk {
    StepToken *token;
    real **k, **v;   /* [layers] of [rows, H K] and [rows, H Vd] */
    real *attention; /* of the watched layer; sentence by sentence [STEP_CHUNK, width, source length]; or NULL */
} StepChunk;

/* Keys and values that the cross-attention of one layer reads, made once a sentence. */
typedef struct SourceCache {
    real *k_t; /* sentence s from H K padded[s] on: [H, K, tile_pad(m)], transposed and padded with zeros */
    real *v;   /* [source rows, H Vd] */
} SourceCache;

typedef struct StepCache {
    int slots, width, layers; /* slots = sentences * width */
    AttentionShape shape;
    int *length; /* [sentences] places that are filled */
    StepChunk *chunk;
    int chunks, most_chunks;
    Packed source;
    int watched_layer, watched_head; /* whose cross-attention is kept: a layer or -1; a head, or -1 for their mean */
    int *padded;                     /* [sentences+1] sums of tile_pad(source length) */
    SourceCache *of_source;          /* [layers] */
} StepCache;

/* An empty cache for sentences of `source`, at most `capacity` places each; of_source is allocated, not filled, and no
 * layer is watched. */
StepCache step_cache_new(Packed source, int width, int capacity, int layers, AttentionShape shape, Arena *arena);

/* Fills place length[s] of the rows' slots (keys and values follow layer by layer), and lengthens their sentences:
 * taking memory from the arena where the place needs it. */
void step_cache_append(StepCache *cache, const StepRows *rows, Arena *arena);

static inline int step_sentence(const StepCache *cache, int slot) { return slot / cache->width; }

static inline size_t step_row(const StepCache *cache, int place, int slot) {
    return (size_t)(place % STEP_CHUNK) * (size_t)cache->slots + (size_t)slot;
}

static inline const StepToken *step_token(const StepCache *cache, int place, int slot) {
    return &cache->chunk[place / STEP_CHUNK].token[step_row(cache, place, slot)];
}

/* What the token of a slot looked at while its successor was predicted: [source length]. Needs a watched layer. */
static inline real *step_attention(const StepCache *cache, int place, int slot) {
    int s = step_sentence(cache, slot), m = packed_length(&cache->source, s);
    size_t before = (size_t)STEP_CHUNK * (size_t)cache->width * (size_t)cache->source.offset[s];
    size_t row = (size_t)(place % STEP_CHUNK) * (size_t)cache->width + (size_t)(slot % cache->width);
    return cache->chunk[place / STEP_CHUNK].attention + before + row * (size_t)m;
}

/* The slots of places 0 .. place on the path that ends in `slot`. */
static inline void step_path(int *path, const StepCache *cache, int place, int slot) {
    for (int t = place; t >= 0; t--) {
        path[t] = slot;
        slot = step_token(cache, t, slot)->parent;
    }
}

#endif
