#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_check(int holds, const char *promise, const char *file, int line) {
    if (holds) return;
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

const char *fuzz_file(const void *data, size_t size) {
    static char path[64];
    static int descriptor = -1;
    if (descriptor < 0) descriptor = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    FUZZ_CHECK(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, data, size, 0) == (ssize_t)size);
    return path;
}
