/* Weights kept in epochs/ to be averaged at the end of training: the last K, taken at [average] every, or the best K by
 * the validation metric, taken at validations. A file is named by the update: epochs/000500.safetensors.
 *
 * The list belongs to the state and is saved with it, so a resume knows which files are its own. */
#ifndef TRAINING_SNAPSHOTS_H
#define TRAINING_SNAPSHOTS_H

#include "run/config.h"

typedef struct Snapshot {
    int64_t update;
    double value; /* of the validation metric; without meaning among the last K */
} Snapshot;

typedef struct SnapshotList {
    Snapshot entry[CONFIG_MOST_SNAPSHOTS + 1]; /* [count] by update; room for one more than is kept */
    int count;
} SnapshotList;

/* "500:0x1.8p+1 1000:0x1p+1", from memory_alloc, and back. False where the text is none. */
char *snapshots_text(const SnapshotList *list);
bool snapshots_parse(SnapshotList *list, const char *text);

bool snapshots_contain(const SnapshotList *list, int64_t update);

/* Takes out the oldest until at most K are left. */
void snapshots_keep_last(SnapshotList *list, int most);

/* The same with the worst; of equals the younger. */
void snapshots_keep_best(SnapshotList *list, int most, bool lower_is_better);

/* Adds one behind the others, which must be older, and at most CONFIG_MOST_SNAPSHOTS. One of the same update is replaced. */
void snapshots_add(SnapshotList *list, Snapshot snapshot);

/* epochs/000500.safetensors of a run's directory, from memory_alloc. */
char *snapshot_path(const char *directory, int64_t update);

/* After a state with the list `now` was saved, the one before it having been saved at `update` with the list `before`:
 * removes the files up to `update` that neither needs. Younger ones may belong to a state whose saving failed. */
void snapshots_prune(const char *directory, const SnapshotList *now, const SnapshotList *before, int64_t update);

#endif
