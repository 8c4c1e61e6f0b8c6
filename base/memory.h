/* Memory that is there or the program ends: the one place that handles running out of it. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* count * size zeroed bytes, aligned to 64. Never NULL: without memory, prints purpose and size, and exits 1.
 * `purpose` names what it is for and, where there is one, the setting to lower, as in
 * "activations (lower [train] piece_rows)". Overflow of count * size is running out of memory too. */
void *memory_alloc(size_t count, size_t size, const char *purpose);

/* The same, not cleared: pages of it that are never written take no memory. */
void *memory_reserve(size_t count, size_t size, const char *purpose);

/* A larger copy of `old` (NULL allowed), the new part zeroed; frees `old`. */
void *memory_grow(void *old, size_t old_count, size_t new_count, size_t size, const char *purpose);

/* A copy of text[0..length) with a final NUL. */
char *memory_text(const char *text, size_t length);

void memory_free(void *memory);

/* Largest resident size of the process so far, in megabytes (10^6 bytes). */
double memory_peak_mb(void);

#endif
