/* A temporary directory for a test that writes files. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stddef.h>

/* Creates one; its path is valid until scratch_remove. */
const char *scratch_create(void);

/* scratch/name, in one of a few buffers that are used in turn. */
const char *scratch_path(const char *name);

/* Removes the directory with all that is in it. */
void scratch_remove(void);

/* Writes bytes[0..size) to a file, without any of the care of base/file.c. */
void scratch_write(const char *path, const void *bytes, size_t size);

/* The bytes of a file with a final NUL, from malloc. Fails the test where there is none. */
char *scratch_read(const char *path, size_t *size);

#endif
