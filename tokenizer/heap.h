/* A binary heap that gives back its smallest item first. Stale items are not removed from inside: who pops
 * one checks whether it still holds. */
#ifndef TOKENIZER_HEAP_H
#define TOKENIZER_HEAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct HeapItem {
    uint64_t first, second; /* compared in this order */
} HeapItem;

typedef struct Heap {
    HeapItem *items; /* [count] the children of item i are 2i+1 and 2i+2 */
    size_t count, capacity;
} Heap;

/* A zeroed Heap is an empty one. */
void heap_free(Heap *heap);
void heap_push(Heap *heap, HeapItem item);
HeapItem heap_pop(Heap *heap); /* count > 0 */

#endif
