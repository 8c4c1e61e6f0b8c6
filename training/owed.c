#include "training/owed.h"

#include <string.h>

#include "base/memory.h"

static void forget(Owed *owed, int i) {
    memory_free(owed->file[i].path);
    memory_free(owed->file[i].slab);
    owed->count--;
    memmove(owed->file + i, owed->file + i + 1, (size_t)(owed->count - i) * sizeof *owed->file);
}

void owed_free(Owed *owed) {
    while (owed->count > 0) forget(owed, owed->count - 1);
    memory_free(owed->file);
    *owed = (Owed){0};
}

void owed_drop(Owed *owed, const char *path) {
    for (int i = owed->count - 1; i >= 0; i--)
        if (strcmp(owed->file[i].path, path) == 0) forget(owed, i);
}

bool owed_has(const Owed *owed, const char *path) {
    for (int i = 0; i < owed->count; i++)
        if (strcmp(owed->file[i].path, path) == 0) return true;
    return false;
}

void owed_add(Owed *owed, const char *path, const real *slab, size_t size) {
    owed_drop(owed, path);
    size_t count = (size_t)owed->count;
    owed->file = memory_grow(owed->file, count, count + 1, sizeof *owed->file, "weights that are still to be written");
    real *copy = memory_alloc(size, sizeof *copy, "weights that are still to be written");
    memcpy(copy, slab, size * sizeof *copy);
    owed->file[owed->count++] = (OwedWeights){memory_text(path, strlen(path)), copy};
}

bool owed_write(Owed *owed, const ParamTable *table, uint64_t vocabulary, Error *error) {
    while (owed->count > 0) {
        if (!weights_save(owed->file[0].path, owed->file[0].slab, table, vocabulary, error)) return false;
        forget(owed, 0);
    }
    return true;
}
