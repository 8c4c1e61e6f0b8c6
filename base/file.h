/* Files: read whole, replaced atomically, appended to. Every error names the path.
 *
 * A file is replaced in four steps: write a temporary file (path.tmp) in the same directory, fsync it, rename
 * it over the path, fsync the directory. A reader, or a run after a crash, sees the old file or the new one,
 * never half of one. When a step up to the rename fails, the temporary is removed and the old file is as it was.
 * A directory, a FIFO or a device is not replaced; a link is, and what it names stays. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The bytes of a regular file, with a final NUL that `size` does not count; from memory_alloc. NULL with an
 * error if it is missing, a directory, unreadable, or larger than `most` bytes. */
char *file_read(const char *path, size_t most, size_t *size, Error *error);

/* Is there anything at this path? */
bool file_exists(const char *path);

/* directory/name, from memory_alloc; name alone where the directory is "". */
char *file_join(const char *directory, const char *name);

/* Creates the directory and those above it; one that is there already is fine. */
bool file_make_directories(const char *path, Error *error);

/* Adds text and \n at the end, creating the file where it is missing, and makes it durable. If a crash left the last
 * line without its \n, ends that line first. On failure the file is as it was. */
bool file_append_line(const char *path, const char *text, Error *error);

/* Renames and makes the new name durable. Replaces `to`. */
bool file_rename(const char *from, const char *to, Error *error);

/* Replaces the file at `path`, or that a link there leads to, by bytes[0..size). Not this program's own output. */
bool file_write(const char *path, const void *bytes, size_t size, Error *error);

/* The same for content that comes in parts: begin, write as often as needed, then commit or abandon.
 * A begin, write or commit that fails has abandoned already. */
typedef struct FileReplacement {
    char *path, *temporary;
    int descriptor;
} FileReplacement;

bool file_replace_begin(FileReplacement *r, const char *path, Error *error);
bool file_replace_write(FileReplacement *r, const void *bytes, size_t size, Error *error);
bool file_replace_commit(FileReplacement *r, Error *error);
void file_replace_abandon(FileReplacement *r);

#endif
