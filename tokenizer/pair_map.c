#include "tokenizer/pair_map.h"

#include <assert.h>
#include <stdint.h>

#include "base/memory.h"

void pair_map_free(PairMap *map) {
    memory_free(map->slots);
    *map = (PairMap){0};
}

/* The slot that holds the pair, or the empty one where it belongs. */
static PairSlot *find_slot(const PairMap *map, int left, int right) {
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    size_t mask = map->slot_count - 1;
    size_t slot = (size_t)(hash ^ hash >> 32) & mask;
    while (map->slots[slot].value != 0 && (map->slots[slot].left != left || map->slots[slot].right != right))
        slot = (slot + 1) & mask;
    return &map->slots[slot];
}

int pair_map_find(const PairMap *map, int left, int right) {
    return map->count == 0 ? -1 : find_slot(map, left, right)->value - 1;
}

static void grow(PairMap *map) {
    PairMap larger = {.slot_count = map->slot_count ? map->slot_count * 2 : 64, .count = map->count};
    larger.slots = memory_alloc(larger.slot_count, sizeof *larger.slots, "pairs of pieces");
    for (size_t i = 0; i < map->slot_count; i++) {
        PairSlot slot = map->slots[i];
        if (slot.value != 0) *find_slot(&larger, slot.left, slot.right) = slot;
    }
    memory_free(map->slots);
    *map = larger;
}

void pair_map_add(PairMap *map, int left, int right, int value) {
    if ((map->count + 1) * 2 > map->slot_count) grow(map);
    PairSlot *slot = find_slot(map, left, right);
    assert(slot->value == 0);
    *slot = (PairSlot){left, right, value + 1};
    map->count++;
}
