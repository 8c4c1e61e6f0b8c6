/* Training updates, timed one by one beside the yardstick. */
#ifndef MEASURING_UPDATES_H
#define MEASURING_UPDATES_H

#include "base/parts.h"
#include "training/trainer.h"

enum { UPDATES_WARM = 2 }; /* the first ones, which touch fresh memory, are not counted */

/* Of one update. */
typedef struct UpdateTime {
    double seconds, source_tokens_per_s, target_tokens_per_s;
    double flops;                /* a second, of the products with weights (work.h) */
    double flops_with_attention; /* a second, those of the attention core counted too */
    double share;                /* of the yardstick's rate: flops / the mean of just before and just after */
    double yardstick;            /* that mean */
} UpdateTime;

typedef struct UpdateTimes {
    int count;
    UpdateTime *update;      /* [count] */
    double parts[PARTS + 1]; /* seconds of all counted updates, the mean over threads; the last: everything else */
    double seconds;          /* the sum of parts */
    double peak_mb;          /* of the process, without the yardstick's matrices */
} UpdateTimes;

/* Runs UPDATES_WARM + count updates of a trainer that has a corpus and a model. Free with update_times_free. */
void updates_measure(UpdateTimes *times, Trainer *t, int count);
void update_times_free(UpdateTimes *times);

/* Smallest, median and largest of one field over all updates. */
typedef struct Spread {
    double least, median, most;
} Spread;

Spread update_times_spread(const UpdateTimes *times, size_t field_offset);

#endif
