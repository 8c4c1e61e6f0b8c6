#include "base/arena.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#    define TANDEM_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define TANDEM_ASAN 1
#    endif
#endif
#ifdef TANDEM_ASAN
#    include <sanitizer/asan_interface.h>
#    define poison(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#    define unpoison(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#    define poison(p, n) ((void)(p), (void)(n))
#    define unpoison(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 64 };
#ifdef TANDEM_DEBUG
enum { DEBUG = true };
#else
enum { DEBUG = false };
#endif

struct ArenaBlock {
    ArenaBlock *next;
    size_t size, used; /* of the bytes that follow this header, both multiples of ALIGN */
};

/* The header takes one whole alignment unit, so that the bytes behind it are aligned. */
static char *block_bytes(ArenaBlock *block) { return (char *)block + ALIGN; }

static size_t round_up(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

void arena_init(Arena *arena, const char *purpose) { *arena = (Arena){.purpose = purpose}; }

Arena *arenas_new(int count, const char *purpose) {
    Arena *arenas = memory_alloc((size_t)count, sizeof *arenas, "arenas");
    for (int i = 0; i < count; i++) arena_init(&arenas[i], purpose);
    return arenas;
}

void arenas_free(Arena *arenas, int count) {
    for (int i = 0; arenas != NULL && i < count; i++) arena_free(&arenas[i]);
    memory_free(arenas);
}

ArenaMark arena_mark(const Arena *arena) {
    if (arena->used == 0) return (ArenaMark){0}; /* names no block: releasing to empty may replace them all */
    return (ArenaMark){arena->current, arena->current->used, arena->last};
}

static void free_blocks(Arena *arena) {
    for (ArenaBlock *block = arena->first; block != NULL;) {
        ArenaBlock *next = block->next;
        unpoison(block, ALIGN + block->size);
        memory_free(block);
        block = next;
    }
    arena->first = arena->current = NULL;
}

void arena_free(Arena *arena) {
    free_blocks(arena);
    arena_init(arena, arena->purpose);
}

static ArenaBlock *new_block(size_t size, const char *purpose) {
    ArenaBlock *block = memory_reserve(1, ALIGN + size, purpose);
    *block = (ArenaBlock){.size = size};
    poison(block_bytes(block), size);
    return block;
}

void arena_release(Arena *arena, ArenaMark mark) {
    for (ArenaBlock *block = mark.block ? mark.block : arena->first; block != NULL; block = block->next) {
        size_t keep = block == mark.block ? mark.used : 0;
        poison(block_bytes(block) + keep, block->used - keep);
        arena->used -= block->used - keep;
        block->used = keep;
        if (block == arena->current) break;
    }
    arena->current = mark.block ? mark.block : arena->first;
    arena->last = mark.last;
    if (arena->used == 0 && arena->first != NULL && arena->first->next != NULL) {
        free_blocks(arena); /* one block for the most that was ever in use: nothing is lost between blocks */
        arena->first = arena->current = new_block(round_up(arena->peak + arena->peak / 16), arena->purpose);
    }
}

/* Makes `current` a block with `bytes` free: the current one, the next in the chain, or a new one between. */
static void make_room(Arena *arena, size_t bytes) {
    ArenaBlock *block = arena->current;
    if (block != NULL && block->size - block->used >= bytes) return;
    ArenaBlock *next = block ? block->next : NULL;
    if (next == NULL || next->size < bytes) {
        ArenaBlock *fresh = new_block(bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES, arena->purpose);
        fresh->next = next;
        if (block != NULL) block->next = fresh;
        if (arena->first == NULL) arena->first = fresh;
        next = fresh;
    }
    arena->current = next;
}

size_t arena_capacity(const Arena *arena) {
    size_t bytes = 0;
    for (const ArenaBlock *block = arena->first; block != NULL; block = block->next) bytes += block->size;
    return bytes;
}

void *arena_take(Arena *arena, size_t rows, size_t cols, size_t element_size, const char *name, const char *function,
                 const char *file) {
    assert(cols == 0 || rows < ((size_t)1 << 48) / cols);
    size_t header = round_up(sizeof(ArenaRecord));
    size_t bytes = header + round_up(rows * cols * element_size);
    make_room(arena, bytes);
    char *start = block_bytes(arena->current) + arena->current->used;
    arena->current->used += bytes;
    arena->used += bytes;
    arena->peak = arena->used > arena->peak ? arena->used : arena->peak;
    unpoison(start, bytes);
    ArenaRecord *record = (ArenaRecord *)start;
    *record =
        (ArenaRecord){name, function, file, rows, cols, element_size, arena->last, start + header, ++arena->taken};
    arena->last = record;
    if (arena->fill_nan || DEBUG) memset(record->data, 0xFF, rows * cols * element_size); /* all bits set is a NaN */
    return record->data;
}
