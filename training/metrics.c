#include "training/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

/* Nine digits tell any two floats apart. */
static const char *number(char out[32], double value) {
    if (!isfinite(value)) return "null";
    snprintf(out, 32, "%.9g", value);
    return out;
}

bool metrics_append_train(const char *path, const TrainMetrics *m, Error *error) {
    char line[512], n[8][32];
    snprintf(line, sizeof line,
             "{\"kind\":\"train\",\"update\":%" PRId64 ",\"epoch\":%d,\"loss\":%s,\"nll\":%s,\"ppl\":%s,\"lr\":%s,"
             "\"grad_norm\":%s,\"tgt_tokens_per_s\":%s,\"src_tokens_per_s\":%s,\"seconds\":%s}",
             m->update, m->epoch, number(n[0], m->loss), number(n[1], m->nll), number(n[2], exp(m->nll)),
             number(n[3], m->lr), number(n[4], m->grad_norm), number(n[5], m->target_tokens_per_s),
             number(n[6], m->source_tokens_per_s), number(n[7], m->seconds));
    return file_append_line(path, line, error);
}

bool metrics_append_valid(const char *path, const ValidMetrics *m, Error *error) {
    const char *buckets = m->buckets ? m->buckets : "[]", *samples = m->samples ? m->samples : "[]";
    size_t size = 512 + strlen(buckets) + strlen(samples);
    char *line = memory_alloc(size, 1, "line of metrics.jsonl"), n[7][32];
    snprintf(line, size,
             "{\"kind\":\"valid\",\"update\":%" PRId64 ",\"epoch\":%d,\"loss\":%s,\"nll\":%s,\"ppl\":%s,"
             "\"bleu\":%s,\"chrf\":%s,\"exact_match\":%s,\"best\":%s,\"seconds\":%s,\"buckets\":%s,\"samples\":%s}",
             m->update, m->epoch, number(n[0], m->loss), number(n[1], m->nll), number(n[2], exp(m->nll)),
             number(n[3], m->bleu), number(n[4], m->chrf), number(n[5], m->exact_match), m->best ? "true" : "false",
             number(n[6], m->seconds), buckets, samples);
    bool good = file_append_line(path, line, error);
    memory_free(line);
    return good;
}

bool metrics_append_resume(const char *path, int64_t update, Error *error) {
    char line[64];
    snprintf(line, sizeof line, "{\"kind\":\"resume\",\"update\":%" PRId64 "}", update);
    return file_append_line(path, line, error);
}
