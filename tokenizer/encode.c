/* Encoding: a word's characters in a linked list, and a heap of the merges that are possible now. So a word
 * of n characters takes n log n steps, however long it is. Frequent words come out of a cache. */

#include "base/batch.h"
#include "base/memory.h"
#include "base/rng.h"
#include "tokenizer/heap.h"
#include "tokenizer/normalize.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

enum { CACHED_WORDS = 1 << 16, CACHED_WORD_LENGTH = 64 }; /* full: the cache is emptied and fills again */

typedef struct Symbol {
    int id;             /* -1: swallowed by its left neighbour */
    int previous, next; /* -1 at the ends */
} Symbol;

struct TextEncoder {
    const Tokenizer *tokenizer;
    Normalizer normalizer;
    Symbol *symbols;
    int symbol_count, symbol_capacity;
    Heap queue;         /* first: rank; second: index of the left symbol. A pair may be gone. */
    Heap dropped;       /* items of queue that dropout left out of the choice of the next merge */
    StringMap words;    /* the cache's words, */
    size_t *word_start; /* [CACHED_WORDS+1] and where their ids begin in */
    IdList word_ids;
};

void id_list_push(IdList *list, int id) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 64;
        list->ids = memory_grow(list->ids, list->count, capacity, sizeof *list->ids, "ids of a text");
        list->capacity = capacity;
    }
    list->ids[list->count++] = id;
}

void id_list_free(IdList *list) {
    memory_free(list->ids);
    *list = (IdList){0};
}

TextEncoder *text_encoder_new(const Tokenizer *tokenizer) {
    TextEncoder *e = memory_alloc(1, sizeof *e, "encoder");
    e->tokenizer = tokenizer;
    e->normalizer = (Normalizer){.form = tokenizer->normalization, .lowercase = tokenizer->lowercase};
    e->word_start = memory_alloc(CACHED_WORDS + 1, sizeof *e->word_start, "encoder");
    return e;
}

void text_encoder_free(TextEncoder *e) {
    if (e == NULL) return;
    normalizer_free(&e->normalizer);
    memory_free(e->symbols);
    heap_free(&e->queue);
    heap_free(&e->dropped);
    string_map_free(&e->words);
    memory_free(e->word_start);
    id_list_free(&e->word_ids);
    memory_free(e);
}

static void add_symbol(TextEncoder *e, int id) {
    if (e->symbol_count == e->symbol_capacity) {
        int capacity = e->symbol_capacity ? e->symbol_capacity * 2 : 64;
        e->symbols = memory_grow(e->symbols, (size_t)e->symbol_count, (size_t)capacity, sizeof *e->symbols, "encoder");
        e->symbol_capacity = capacity;
    }
    e->symbols[e->symbol_count] = (Symbol){id, e->symbol_count - 1, e->symbol_count + 1};
    e->symbol_count++;
}

/* The word as one symbol per character, or per byte where the character has no piece. */
static void split_word(TextEncoder *e, const char *word, size_t length) {
    e->symbol_count = 0;
    for (size_t i = 0, n; i < length; i += n) {
        int32_t code;
        n = utf8_next(word + i, length - i, &code);
        int id = string_map_find(&e->tokenizer->pieces, word + i, n);
        if (id >= 0) add_symbol(e, id);
        for (size_t b = 0; id < 0 && b < n; b++) add_symbol(e, ID_FIRST_BYTE + (unsigned char)word[i + b]);
    }
    e->symbols[e->symbol_count - 1].next = -1;
}

/* Rank of the merge of symbol i with the one after it, or -1. */
static int rank_at(const TextEncoder *e, int i) {
    int next = e->symbols[i].next;
    if (e->symbols[i].id < 0 || next < 0) return -1;
    return pair_map_find(&e->tokenizer->merge_rank, e->symbols[i].id, e->symbols[next].id);
}

static void queue_pair(TextEncoder *e, int i) {
    int rank = i < 0 ? -1 : rank_at(e, i);
    if (rank >= 0) heap_push(&e->queue, (HeapItem){(uint64_t)rank, (uint64_t)i});
}

static void queue_dropped(TextEncoder *e) {
    for (size_t i = 0; i < e->dropped.count; i++) heap_push(&e->queue, e->dropped.items[i]);
    e->dropped.count = 0;
}

/* Merges while any is possible: the first learned first, among equals from left to right. With dropout each
 * candidate for the next merge is passed over with probability rate; after the last there is no next merge. */
static void merge_symbols(TextEncoder *e, double rate, Rng *rng) {
    for (int i = 0; i + 1 < e->symbol_count; i++) queue_pair(e, i);
    while (e->queue.count > 0) {
        HeapItem item = heap_pop(&e->queue);
        int rank = (int)item.first, i = (int)item.second;
        if (rank_at(e, i) != rank) continue;
        if (rate > 0 && rng_uniform(rng) < rate) {
            heap_push(&e->dropped, item);
            continue;
        }
        queue_dropped(e);
        Symbol *left = &e->symbols[i], *right = &e->symbols[left->next];
        left->id = e->tokenizer->merges[rank].result;
        left->next = right->next;
        right->id = -1;
        if (left->next >= 0) e->symbols[left->next].previous = i;
        queue_pair(e, left->previous);
        queue_pair(e, i);
    }
    e->dropped.count = 0;
}

/* The id of a word that is a piece; -1 otherwise. The rest of a word cut at WORD_LIMIT may look like a special piece. */
static int whole_word(const TextEncoder *e, const char *word, size_t length) {
    int id = e->tokenizer->whole_words ? string_map_find(&e->tokenizer->pieces, word, length) : -1;
    return id >= ID_FIRST_PIECE ? id : -1;
}

static void spell_word(TextEncoder *e, const char *word, size_t length, double rate, Rng *rng, IdList *out) {
    split_word(e, word, length);
    merge_symbols(e, rate, rng);
    for (int i = 0; i >= 0; i = e->symbols[i].next) id_list_push(out, e->symbols[i].id);
}

static void encode_word(TextEncoder *e, const char *word, size_t length, IdList *out) {
    int whole = whole_word(e, word, length);
    if (whole >= 0)
        id_list_push(out, whole);
    else
        spell_word(e, word, length, 0, NULL, out);
}

/* Index of the word in the cache, where it is put if need be. */
static int cache_word(TextEncoder *e, const char *word, size_t length) {
    int index = string_map_find(&e->words, word, length);
    if (index >= 0) return index;
    if (e->words.count == CACHED_WORDS) {
        string_map_clear(&e->words);
        e->word_ids.count = 0;
    }
    encode_word(e, word, length, &e->word_ids);
    index = string_map_add(&e->words, word, length);
    e->word_start[index + 1] = e->word_ids.count;
    return index;
}

void tokenizer_encode(TextEncoder *e, const char *text, size_t length, IdList *out) {
    normalize(&e->normalizer, text, length);
    const char *word = e->normalizer.text;
    for (size_t left = e->normalizer.length, n; left > 0; word += n, left -= n) {
        n = word_length(word, left);
        if (n > CACHED_WORD_LENGTH) {
            encode_word(e, word, n, out);
            continue;
        }
        int index = cache_word(e, word, n);
        for (size_t i = e->word_start[index]; i < e->word_start[index + 1]; i++) id_list_push(out, e->word_ids.ids[i]);
    }
}

/* As in the library, dropout spells whole words too, where a file asks for both. */
void tokenizer_encode_dropout(TextEncoder *e, const char *text, size_t length, double rate, uint64_t seed,
                              IdList *out) {
    Rng rng = {seed};
    normalize(&e->normalizer, text, length);
    const char *word = e->normalizer.text;
    for (size_t left = e->normalizer.length, n; left > 0; word += n, left -= n) {
        n = word_length(word, left);
        spell_word(e, word, n, rate, &rng, out);
    }
}
