/* Runs a fuzz target on the committed inputs, tests/fuzz/seeds/NAME for the program .../NAME, or on the files named, and
 * then on each of them cut off and with bytes changed: a small part of what libFuzzer does, without clang. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_BYTES = 1 << 20, CHANGED = 40 };

static void run_changed(const char *bytes, size_t size, uint64_t seed) {
    Rng rng = {seed};
    for (int i = 0; i < CHANGED && size > 0; i++) {
        size_t length = i % 4 == 0 ? (size_t)rng_below(&rng, size) : size;
        char *copy = memory_text(bytes, length);
        for (uint64_t n = rng_below(&rng, 4); n > 0 && length > 0; n--)
            copy[rng_below(&rng, length)] =
                (char)(rng_below(&rng, 2) ? bytes[rng_below(&rng, size)] : (int)rng_below(&rng, 256));
        LLVMFuzzerTestOneInput((const uint8_t *)copy, length);
        memory_free(copy);
    }
}

static int run_file(const char *path) {
    Error error;
    size_t size;
    char *bytes = file_read(path, MOST_BYTES, &size, &error);
    if (bytes == NULL) {
        fprintf(stderr, "%s\n", error.text);
        return 0;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    run_changed(bytes, size, size);
    memory_free(bytes);
    return 1;
}

static int run_folder(const char *folder) {
    struct dirent **entry;
    int count = scandir(folder, &entry, NULL, alphasort), runs = 0;
    for (int i = 0; i < count; i++) {
        char *path = file_join(folder, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.') runs += run_file(path);
        memory_free(path);
        free(entry[i]);
    }
    if (count >= 0) free(entry);
    return runs;
}

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    char *folder = file_join("tests/fuzz/seeds", name);
    int runs = 0;
    for (int i = 1; i < argc; i++) runs += run_file(argv[i]);
    if (argc == 1) runs = run_folder(folder);
    memory_free(folder);
    if (runs == 0) fprintf(stderr, "%s: there are no inputs\n", name);
    if (runs == 0) return 1;
    printf("[       OK ] %s: %d inputs, and each changed %d times\n", name, runs, CHANGED);
    return 0;
}
