/* Strings to dense indices 0, 1, 2, ... in the order they were added: the pieces of a vocabulary (the index
 * is the id), the distinct words of a corpus, the cached words of an encoder. Open addressing. */
#ifndef TOKENIZER_STRING_MAP_H
#define TOKENIZER_STRING_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct StringEntry {
    size_t offset; /* of its first byte in text */
    uint32_t length, hash;
} StringEntry;

typedef struct StringMap {
    char *text; /* all strings, each followed by a NUL */
    size_t used, capacity;
    StringEntry *entries; /* [count] */
    int count, entry_capacity;
    int *slots; /* [slot_count] index + 1, or 0 where empty; slot_count is 0 or a power of two */
    size_t slot_count;
} StringMap;

/* A zeroed StringMap is an empty one. */
void string_map_free(StringMap *map);
void string_map_clear(StringMap *map); /* keeps its memory */

/* Index of a string, or -1. */
int string_map_find(const StringMap *map, const char *string, size_t length);

/* Index of a string, which is added if it is new (then the index is the former count). */
int string_map_add(StringMap *map, const char *string, size_t length);

/* Valid until the next string_map_add. */
static inline const char *string_map_text(const StringMap *map, int index) {
    return map->text + map->entries[index].offset;
}

#endif
