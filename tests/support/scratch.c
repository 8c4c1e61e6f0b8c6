#include "tests/support/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[256];

static void require(int ok, const char *what) {
    if (ok) return;
    perror(what);
    exit(1);
}

const char *scratch_create(void) {
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/tandem-test-XXXXXX", parent ? parent : "/tmp");
    require(mkdtemp(directory) != NULL, directory);
    return directory;
}

const char *scratch_path(const char *name) {
    static char paths[8][512];
    static int turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    return remove(path);
}

void scratch_remove(void) { nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

void scratch_write(const char *path, const void *bytes, size_t size) {
    unlink(path); /* a new file: some file systems flush one that is rewritten, which takes milliseconds */
    FILE *file = fopen(path, "wb");
    require(file != NULL, path);
    require(fwrite(bytes, 1, size, file) == size, path);
    require(fclose(file) == 0, path);
}

char *scratch_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    require(file != NULL, path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    require(bytes != NULL && fread(bytes, 1, *size, file) == *size, path);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}
