#include "base/parts.h"

#include <assert.h>

#include "base/clock.h"

static _Thread_local struct {
    int depth;
    Part part; /* the outermost */
    double start, seconds[PARTS];
    PartWatch *after; /* or NULL */
    void *context;
} here;

void part_begin(Part part) {
    if (here.depth++ > 0) return;
    here.part = part;
    here.start = clock_seconds();
}

void part_end(void) {
    assert(here.depth > 0);
    if (--here.depth > 0) return;
    here.seconds[here.part] += clock_seconds() - here.start;
    if (here.after != NULL) here.after(here.context, here.part);
}

void part_watch(PartWatch *after, void *context) {
    here.after = after;
    here.context = context;
}

void parts_take(double *seconds) {
    assert(here.depth == 0);
    for (int i = 0; i < PARTS; i++) {
        seconds[i] += here.seconds[i];
        here.seconds[i] = 0;
    }
}
