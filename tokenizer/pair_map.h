/* Pairs of ids (left, right) to a number that is 0 or more: rank of a merge, index of a counted pair.
 * Open addressing; nothing is ever removed. */
#ifndef TOKENIZER_PAIR_MAP_H
#define TOKENIZER_PAIR_MAP_H

#include <stddef.h>

typedef struct PairSlot {
    int left, right;
    int value; /* + 1, so that 0 says empty */
} PairSlot;

typedef struct PairMap {
    PairSlot *slots; /* [slot_count], 0 or a power of two */
    size_t slot_count, count;
} PairMap;

/* A zeroed PairMap is an empty one. */
void pair_map_free(PairMap *map);

/* The pair's value, or -1. */
int pair_map_find(const PairMap *map, int left, int right);

/* The pair must be new. */
void pair_map_add(PairMap *map, int left, int right, int value);

#endif
