/* Clocks that never jump. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

static inline double clock_read(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double clock_seconds(void) { return clock_read(CLOCK_MONOTONIC); }

/* Of this thread on a processor: what other programs do does not count. */
static inline double clock_thread_seconds(void) { return clock_read(CLOCK_THREAD_CPUTIME_ID); }

#endif
