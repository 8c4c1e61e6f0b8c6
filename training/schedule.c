#include "training/schedule.h"

#include <assert.h>
#include <math.h>

static double noam(double lr, int d_model, int warmup, double u) {
    return lr / sqrt(d_model) * fmin(1 / sqrt(u), u / (warmup * sqrt(warmup)));
}

static double cosine(double lr, double lr_min, int warmup, int updates, int64_t u) {
    if (u >= updates) return lr_min;
    return lr_min + (lr - lr_min) * (1 + cos(acos(-1.0) * (double)(u - warmup) / (updates - warmup))) / 2;
}

double schedule_lr(const Config *config, int reductions, int64_t u) {
    const ConfigTrain *c = &config->train;
    assert(u >= 1);
    if (c->schedule == CONFIG_SCHEDULE_NOAM) return noam(c->lr, config->model.d_model, c->warmup, (double)u);
    if (u < c->warmup) return c->warmup_start + (c->lr - c->warmup_start) * (double)u / c->warmup;
    switch (c->schedule) {
    case CONFIG_SCHEDULE_INVERSE_SQRT:
        return c->lr * sqrt(c->warmup / (double)u);
    case CONFIG_SCHEDULE_LINEAR:
        return c->lr * fmax(0, (double)(c->updates + 1 - u) / (c->updates + 1 - c->warmup));
    case CONFIG_SCHEDULE_COSINE:
        return cosine(c->lr, c->lr_min, c->warmup, c->updates, u);
    case CONFIG_SCHEDULE_PLATEAU:
        return fmax(c->lr_min, c->lr * pow(c->plateau_factor, reductions));
    case CONFIG_SCHEDULE_NOAM:
    case CONFIG_SCHEDULE_CONSTANT:
        break;
    }
    return c->lr;
}

bool schedule_reduces(const Config *config, int reductions, int stalled, int64_t update) {
    const ConfigTrain *c = &config->train;
    if (c->schedule != CONFIG_SCHEDULE_PLATEAU || update < c->warmup) return false;
    if (stalled == 0 || stalled % c->plateau_patience != 0) return false;
    return schedule_lr(config, reductions, update + 1) > c->lr_min;
}
