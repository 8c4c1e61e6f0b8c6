#include "run/checksum.h"

#include <string.h>

static const uint64_t PRIME[5] = {0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u,
                                  0x27D4EB2F165667C5u};

static uint64_t rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

static uint64_t load64(const unsigned char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint64_t load32(const unsigned char *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint64_t mix(uint64_t lane, uint64_t word) { return rotate(lane + word * PRIME[1], 31) * PRIME[0]; }

void checksum_start(Checksum *c) { *c = (Checksum){.lane = {PRIME[0] + PRIME[1], PRIME[1], 0, 0 - PRIME[0]}}; }

/* Whole stripes of 32 bytes: one word to each lane. Returns what is left. */
static const unsigned char *stripes(Checksum *c, const unsigned char *p, size_t size) {
    uint64_t a = c->lane[0], b = c->lane[1], d = c->lane[2], e = c->lane[3];
    for (; size >= 32; size -= 32, p += 32) {
        a = mix(a, load64(p));
        b = mix(b, load64(p + 8));
        d = mix(d, load64(p + 16));
        e = mix(e, load64(p + 24));
    }
    c->lane[0] = a, c->lane[1] = b, c->lane[2] = d, c->lane[3] = e;
    return p;
}

void checksum_add(Checksum *c, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    size_t waiting = c->total % 32;
    if (size == 0) return;
    c->total += size;
    if (waiting + size < 32) {
        memcpy(c->waiting + waiting, p, size);
        return;
    }
    if (waiting > 0) {
        memcpy(c->waiting + waiting, p, 32 - waiting);
        stripes(c, c->waiting, 32);
        p += 32 - waiting;
        size -= 32 - waiting;
    }
    p = stripes(c, p, size);
    memcpy(c->waiting, p, size % 32);
}

uint64_t checksum_finish(const Checksum *c) {
    const uint64_t *v = c->lane;
    uint64_t h = PRIME[4]; /* seed 0 + fifth prime, for inputs shorter than a stripe */
    if (c->total >= 32) {
        h = rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18);
        for (int i = 0; i < 4; i++) h = (h ^ mix(0, v[i])) * PRIME[0] + PRIME[3];
    }
    h += c->total;
    const unsigned char *p = c->waiting, *end = p + c->total % 32;
    for (; end - p >= 8; p += 8) h = rotate(h ^ mix(0, load64(p)), 27) * PRIME[0] + PRIME[3];
    for (; end - p >= 4; p += 4) h = rotate(h ^ (load32(p) * PRIME[0]), 23) * PRIME[1] + PRIME[2];
    for (; p < end; p++) h = rotate(h ^ (*p * PRIME[4]), 11) * PRIME[0];
    h = (h ^ (h >> 33)) * PRIME[1];
    h = (h ^ (h >> 29)) * PRIME[2];
    return h ^ (h >> 32);
}
