#include "tokenizer/heap.h"

#include <assert.h>
#include <stdbool.h>

#include "base/memory.h"

void heap_free(Heap *heap) {
    memory_free(heap->items);
    *heap = (Heap){0};
}

static bool before(HeapItem a, HeapItem b) { return a.first != b.first ? a.first < b.first : a.second < b.second; }

void heap_push(Heap *heap, HeapItem item) {
    if (heap->count == heap->capacity) {
        size_t capacity = heap->capacity ? heap->capacity * 2 : 64;
        heap->items = memory_grow(heap->items, heap->count, capacity, sizeof *heap->items, "queue of merges");
        heap->capacity = capacity;
    }
    size_t i = heap->count++;
    for (; i > 0 && before(item, heap->items[(i - 1) / 2]); i = (i - 1) / 2) heap->items[i] = heap->items[(i - 1) / 2];
    heap->items[i] = item;
}

HeapItem heap_pop(Heap *heap) {
    assert(heap->count > 0);
    HeapItem smallest = heap->items[0], last = heap->items[--heap->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count) break;
        if (child + 1 < heap->count && before(heap->items[child + 1], heap->items[child])) child++;
        if (!before(heap->items[child], last)) break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = last;
    return smallest;
}
