#include "training/schedule.h"

#include <assert.h>
#include <math.h>

double schedule_lr(ConfigSchedule schedule, double lr, int warmup, int updates, int64_t u) {
    assert(u >= 1);
    if (u < warmup) return lr * (double)u / warmup;
    switch (schedule) {
    case CONFIG_SCHEDULE_INVERSE_SQRT:
        return lr * sqrt(warmup / (double)u);
    case CONFIG_SCHEDULE_LINEAR:
        return lr * fmax(0, (double)(updates + 1 - u) / (updates + 1 - warmup));
    case CONFIG_SCHEDULE_CONSTANT:
        return lr;
    }
    return lr;
}
