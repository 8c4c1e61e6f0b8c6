/* A named arena: activations are taken where they are computed, listed by name, and released together.
 *
 * It is a chain of blocks, so pointers never move. When all is released the chain becomes one block as large as the most
 * that was ever in use, and is kept: a warm arena touches no fresh pages.
 * Every allocation is preceded by a record of its name, shape, function and file; a tracer walks them.
 * Memory is not cleared; debug builds, and arenas with fill_nan, fill it with NaN, and AddressSanitizer sees released
 * memory as poisoned. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/real.h"

/* Of a block, at least. Large, so that little is lost at the ends; what is not used of a block is never touched. */
enum { ARENA_BLOCK_BYTES = 64 << 20 };

typedef struct ArenaRecord {
    const char *name, *function, *file;
    size_t rows, cols;            /* shape in elements */
    size_t element_size;          /* bytes */
    struct ArenaRecord *previous; /* the allocation before; NULL at the first */
    void *data;
    size_t number; /* of the allocation, from 1: tells apart what is taken at one place one after the other */
} ArenaRecord;

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena {
    ArenaBlock *first, *current;
    size_t used, peak;   /* bytes in use now, and at most so far */
    ArenaRecord *last;   /* newest live allocation */
    size_t taken;        /* allocations so far, released ones too */
    bool fill_nan;       /* so that a tracer can tell what was written */
    const char *purpose; /* for the message when memory runs out */
} Arena;

typedef struct ArenaMark {
    ArenaBlock *block;
    size_t used;
    ArenaRecord *last;
} ArenaMark;

void arena_init(Arena *arena, const char *purpose);
void arena_free(Arena *arena);

/* [count] arenas, one a thread. */
Arena *arenas_new(int count, const char *purpose);
void arenas_free(Arena *arenas, int count); /* NULL allowed */

/* Bytes in all blocks, used or not. */
size_t arena_capacity(const Arena *arena);

/* Everything allocated after the mark is released; its memory is kept. */
ArenaMark arena_mark(const Arena *arena);
void arena_release(Arena *arena, ArenaMark mark);

void *arena_take(Arena *arena, size_t rows, size_t cols, size_t element_size, const char *name, const char *function,
                 const char *file);

/* [rows, cols] reals (ints, or items of any type), named where they are computed. */
#define arena_reals(arena, name, rows, cols) \
    ((real *)arena_take(arena, (size_t)(rows), (size_t)(cols), sizeof(real), name, __func__, __FILE__))
#define arena_array(arena, type, name, count) \
    ((type *)arena_take(arena, (size_t)(count), 1, sizeof(type), name, __func__, __FILE__))

#endif
