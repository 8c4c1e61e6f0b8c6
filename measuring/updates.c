#include "measuring/updates.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "measuring/sgemm.h"
#include "measuring/work.h"

enum { YARDSTICK_TIMES = 2 }; /* products a thread, before and after each update: about 15 ms each */

/* The seconds of all threads since the last call. */
static void take_parts(double *seconds, int threads) {
#pragma omp parallel num_threads(threads)
#pragma omp critical
    parts_take(seconds);
}

static double attention_of(const Trainer *t, const Update *u) {
    double work = 0;
    for (int i = 0; i < u->pieces; i++) work += work_attention(&t->model.config, &u->piece[i]);
    return work;
}

/* One update: its time, and in parts[PARTS] the seconds summed over threads. */
static UpdateTime one(Trainer *t, double *parts) {
    StepResult r;
    take_parts(parts, t->config.train.threads);
    for (int i = 0; i < PARTS; i++) parts[i] = 0;
    double start = clock_seconds();
    trainer_step(t, &r);
    double seconds = clock_seconds() - start;
    take_parts(parts, t->config.train.threads);
    double work = work_products(&t->model.config, r.drawn.source_tokens, r.drawn.target_tokens);
    return (UpdateTime){.seconds = seconds,
                        .source_tokens_per_s = (double)r.drawn.source_tokens / seconds,
                        .target_tokens_per_s = (double)r.drawn.target_tokens / seconds,
                        .flops = work / seconds,
                        .flops_with_attention = (work + attention_of(t, &r.drawn)) / seconds};
}

void updates_measure(UpdateTimes *times, Trainer *t, int count) {
    int threads = t->config.train.threads;
    SgemmProbe probe;
    sgemm_probe_init(&probe, threads, SGEMM_BESIDE);
    *times = (UpdateTimes){count, memory_alloc((size_t)count, sizeof(UpdateTime), "times of updates"), {0}, 0, 0};
    double before = sgemm_probe_rate(&probe, YARDSTICK_TIMES), shown = clock_seconds();
    for (int i = -UPDATES_WARM; i < count; i++) {
        double parts[PARTS] = {0};
        UpdateTime u = one(t, parts);
        double after = sgemm_probe_rate(&probe, YARDSTICK_TIMES);
        u.yardstick = (before + after) / 2;
        u.share = u.flops / u.yardstick;
        before = after;
        if (clock_seconds() - shown > 2 && isatty(STDERR_FILENO)) {
            fprintf(stderr, "\rupdate %d of %d  %.1f GF/s ", i + 1, count, u.flops * 1e-9);
            shown = clock_seconds();
        }
        if (i < 0) continue;
        times->update[i] = u;
        times->seconds += u.seconds;
        for (int p = 0; p < PARTS; p++) times->parts[p] += parts[p] / threads;
    }
    if (isatty(STDERR_FILENO)) fputs("\r                                   \r", stderr);
    times->parts[PARTS] = times->seconds;
    for (int p = 0; p < PARTS; p++) times->parts[PARTS] -= times->parts[p];
    times->peak_mb = memory_peak_mb() - 3e-6 * sizeof(real) * threads * SGEMM_BESIDE * SGEMM_BESIDE;
    sgemm_probe_free(&probe);
}

void update_times_free(UpdateTimes *times) { memory_free(times->update); }

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

Spread update_times_spread(const UpdateTimes *times, size_t field_offset) {
    int n = times->count;
    double *value = memory_alloc((size_t)n, sizeof *value, "times of updates");
    for (int i = 0; i < n; i++) value[i] = *(const double *)((const char *)&times->update[i] + field_offset);
    qsort(value, (size_t)n, sizeof *value, compare);
    Spread s = {value[0], (value[(n - 1) / 2] + value[n / 2]) / 2, value[n - 1]};
    memory_free(value);
    return s;
}
