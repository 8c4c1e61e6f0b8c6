/* XXH64 with seed 0 (Collet, xxHash specification 0.1.1), in parts: a 64-bit checksum at memory speed,
 * against damage, not against malice. */
#ifndef RUN_CHECKSUM_H
#define RUN_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct Checksum {
    uint64_t lane[4];
    uint64_t total;            /* bytes so far */
    unsigned char waiting[32]; /* the last total % 32 bytes, not yet in the lanes */
} Checksum;

void checksum_start(Checksum *c);
void checksum_add(Checksum *c, const void *bytes, size_t size);
uint64_t checksum_finish(const Checksum *c);

#endif
