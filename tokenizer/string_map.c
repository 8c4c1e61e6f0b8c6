#include "tokenizer/string_map.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"

void string_map_free(StringMap *map) {
    memory_free(map->text);
    memory_free(map->entries);
    memory_free(map->slots);
    *map = (StringMap){0};
}

void string_map_clear(StringMap *map) {
    if (map->slots) memset(map->slots, 0, map->slot_count * sizeof *map->slots);
    map->count = 0;
    map->used = 0;
}

/* Eight bytes at a time, one multiplication each; the fold brings the well mixed high half down. */
static uint32_t string_hash(const char *string, size_t length) {
    uint64_t hash = length * 0x9E3779B97F4A7C15u;
    while (length > 0) {
        uint64_t part = 0;
        size_t step = length < 8 ? length : 8;
        memcpy(&part, string, step);
        hash = (hash ^ part) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 32;
        string += step;
        length -= step;
    }
    return (uint32_t)(hash ^ (hash >> 15));
}

/* The slot that holds the string, or the empty one where it belongs. */
static size_t find_slot(const StringMap *map, const char *string, size_t length, uint32_t hash) {
    size_t mask = map->slot_count - 1, slot = hash & mask;
    for (; map->slots[slot] != 0; slot = (slot + 1) & mask) {
        const StringEntry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->hash == hash && entry->length == length && memcmp(map->text + entry->offset, string, length) == 0)
            break;
    }
    return slot;
}

int string_map_find(const StringMap *map, const char *string, size_t length) {
    if (map->count == 0) return -1;
    return map->slots[find_slot(map, string, length, string_hash(string, length))] - 1;
}

/* Room for one more entry, with at most half of the slots taken. */
static void grow_slots(StringMap *map) {
    if (((size_t)map->count + 1) * 2 <= map->slot_count) return;
    memory_free(map->slots);
    map->slot_count = map->slot_count ? map->slot_count * 2 : 64;
    map->slots = memory_alloc(map->slot_count, sizeof *map->slots, "index of pieces and words");
    for (int i = 0; i < map->count; i++) {
        size_t slot = map->entries[i].hash & (map->slot_count - 1);
        while (map->slots[slot] != 0) slot = (slot + 1) & (map->slot_count - 1);
        map->slots[slot] = i + 1;
    }
}

static void grow_text(StringMap *map, size_t more) {
    if (map->used + more > map->capacity) {
        size_t capacity = (map->used + more) * 2;
        map->text = memory_grow(map->text, map->used, capacity, 1, "text of pieces and words");
        map->capacity = capacity;
    }
    if (map->count == map->entry_capacity) {
        assert(map->count < INT_MAX / 2);
        int capacity = map->count ? map->count * 2 : 32;
        map->entries = memory_grow(map->entries, (size_t)map->count, (size_t)capacity, sizeof *map->entries,
                                   "list of pieces and words");
        map->entry_capacity = capacity;
    }
}

int string_map_add(StringMap *map, const char *string, size_t length) {
    assert(length < UINT32_MAX);
    grow_slots(map);
    uint32_t hash = string_hash(string, length);
    size_t slot = find_slot(map, string, length, hash);
    if (map->slots[slot] != 0) return map->slots[slot] - 1;
    grow_text(map, length + 1);
    map->entries[map->count] = (StringEntry){map->used, (uint32_t)length, hash};
    memcpy(map->text + map->used, string, length);
    map->text[map->used + length] = '\0';
    map->used += length + 1;
    map->slots[slot] = ++map->count;
    return map->count - 1;
}
