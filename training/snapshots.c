#include "training/snapshots.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "run/run_directory.h"

enum { ENTRY_BYTES = 64 };

char *snapshots_text(const SnapshotList *list) {
    size_t size = (size_t)list->count * ENTRY_BYTES + 1, used = 0;
    char *text = memory_alloc(size, 1, "list of snapshots");
    for (int i = 0; i < list->count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64 ":%a", i > 0 ? " " : "", list->entry[i].update,
                                 list->entry[i].value);
    return text;
}

bool snapshots_parse(SnapshotList *list, const char *text) {
    *list = (SnapshotList){0};
    while (*text != '\0') {
        char *colon, *end;
        Snapshot s = {.update = strtoll(text, &colon, 10)};
        if (colon == text || *colon != ':' || list->count > CONFIG_MOST_SNAPSHOTS - 1) return false;
        s.value = strtod(colon + 1, &end);
        if (end == colon + 1 || (*end != ' ' && *end != '\0')) return false;
        if (list->count > 0 && s.update <= list->entry[list->count - 1].update) return false;
        list->entry[list->count++] = s;
        text = end + (*end == ' ');
    }
    return true;
}

bool snapshots_contain(const SnapshotList *list, int64_t update) {
    for (int i = 0; i < list->count; i++)
        if (list->entry[i].update == update) return true;
    return false;
}

static void take_out(SnapshotList *list, int i) {
    list->count--;
    memmove(list->entry + i, list->entry + i + 1, (size_t)(list->count - i) * sizeof *list->entry);
}

void snapshots_keep_last(SnapshotList *list, int most) {
    while (list->count > most) take_out(list, 0);
}

void snapshots_keep_best(SnapshotList *list, int most, bool lower_is_better) {
    while (list->count > most) {
        int worst = 0;
        for (int i = 1; i < list->count; i++) {
            double value = list->entry[i].value, than = list->entry[worst].value;
            if (lower_is_better ? value >= than : value <= than) worst = i;
        }
        take_out(list, worst);
    }
}

void snapshots_add(SnapshotList *list, Snapshot snapshot) {
    if (list->count > 0 && list->entry[list->count - 1].update == snapshot.update) list->count--;
    assert(list->count <= CONFIG_MOST_SNAPSHOTS);
    assert(list->count == 0 || list->entry[list->count - 1].update < snapshot.update);
    list->entry[list->count++] = snapshot;
}

char *snapshot_path(const char *directory, int64_t update) {
    char name[64], *folder = run_path(directory, RUN_EPOCHS);
    snprintf(name, sizeof name, "%06" PRId64 ".safetensors", update);
    char *path = file_join(folder, name);
    memory_free(folder);
    return path;
}

void snapshots_prune(const char *directory, const SnapshotList *now, const SnapshotList *before, int64_t update) {
    char *folder = run_path(directory, RUN_EPOCHS);
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char *end;
        int64_t number = strtoll(e->d_name, &end, 10);
        if (end == e->d_name || strcmp(end, ".safetensors") != 0) continue;
        if (number > update || snapshots_contain(now, number) || snapshots_contain(before, number)) continue;
        char *path = file_join(folder, e->d_name);
        unlink(path); /* one that stays only takes space */
        memory_free(path);
    }
    if (d != NULL) closedir(d);
    memory_free(folder);
}
