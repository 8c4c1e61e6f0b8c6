#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/progress.h"

static _Noreturn void out_of_memory(size_t count, size_t size, const char *purpose) {
    progress_clear();
    fprintf(stderr, "out of memory: %s: %zu x %zu bytes could not be allocated\n", purpose, count, size);
    exit(1);
}

void *memory_reserve(size_t count, size_t size, const char *purpose) {
    if (size != 0 && count > (SIZE_MAX - 64) / size) out_of_memory(count, size, purpose);
    size_t bytes = (count * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes ? bytes : 64);
    if (memory == NULL) out_of_memory(count, size, purpose);
    return memory;
}

void *memory_alloc(size_t count, size_t size, const char *purpose) {
    return memset(memory_reserve(count, size, purpose), 0, count * size);
}

void *memory_grow(void *old, size_t old_count, size_t new_count, size_t size, const char *purpose) {
    void *memory = memory_alloc(new_count, size, purpose);
    if (old != NULL) memcpy(memory, old, (old_count < new_count ? old_count : new_count) * size);
    memory_free(old);
    return memory;
}

char *memory_text(const char *text, size_t length) {
    char *copy = memory_alloc(length + 1, 1, "text");
    memcpy(copy, text, length);
    return copy;
}

void memory_free(void *memory) { free(memory); }

double memory_peak_mb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}
