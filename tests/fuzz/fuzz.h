/* A fuzz target: one function, called with one input after another. It must neither crash, leak nor hang, and aborts where
 * a promise is broken. `make fuzz` links it with libFuzzer, which invents inputs; `make test` with tests/fuzz/driver.c,
 * which runs the committed ones in tests/fuzz/seeds/. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts, naming the promise, where it does not hold. */
#define FUZZ_CHECK(promise) fuzz_check(promise, #promise, __FILE__, __LINE__)
void fuzz_check(int holds, const char *promise, const char *file, int line);

/* The path of a file in memory that holds data[0..size) until the next call. */
const char *fuzz_file(const void *data, size_t size);

#endif
