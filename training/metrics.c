#include "training/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

void metrics_open(Metrics *metrics, const char *path) { *metrics = (Metrics){.path = memory_text(path, strlen(path))}; }

void metrics_close(Metrics *metrics) {
    memory_free(metrics->path);
    memory_free(metrics->owed);
    *metrics = (Metrics){0};
}

bool metrics_flush(Metrics *metrics, Error *error) {
    if (metrics->owed == NULL) return true;
    if (!file_append_line(metrics->path, metrics->owed, error)) return false;
    memory_free(metrics->owed);
    metrics->owed = NULL;
    return true;
}

static bool append(Metrics *metrics, const char *line, Error *error) {
    size_t owed = metrics->owed != NULL ? strlen(metrics->owed) + 1 : 0, length = strlen(line);
    metrics->owed = memory_grow(metrics->owed, owed, owed + length + 1, 1, "lines of metrics.jsonl");
    if (owed > 0) metrics->owed[owed - 1] = '\n';
    memcpy(metrics->owed + owed, line, length + 1);
    return metrics_flush(metrics, error);
}

/* Nine digits tell any two floats apart. */
static const char *number(char out[32], double value) {
    if (!isfinite(value)) return "null";
    snprintf(out, 32, "%.9g", value);
    return out;
}

bool metrics_append_train(Metrics *metrics, const TrainMetrics *m, Error *error) {
    char line[512], n[8][32];
    snprintf(line, sizeof line,
             "{\"kind\":\"train\",\"update\":%" PRId64 ",\"epoch\":%d,\"loss\":%s,\"nll\":%s,\"ppl\":%s,\"lr\":%s,"
             "\"grad_norm\":%s,\"tgt_tokens_per_s\":%s,\"src_tokens_per_s\":%s,\"seconds\":%s}",
             m->update, m->epoch, number(n[0], m->loss), number(n[1], m->nll), number(n[2], exp(m->nll)),
             number(n[3], m->lr), number(n[4], m->grad_norm), number(n[5], m->target_tokens_per_s),
             number(n[6], m->source_tokens_per_s), number(n[7], m->seconds));
    return append(metrics, line, error);
}

/* ,"snapshots":[10,20] */
static char *add_snapshots(char *end, const int64_t *snapshot, int snapshots) {
    end += sprintf(end, ",\"snapshots\":[");
    for (int i = 0; i < snapshots; i++) end += sprintf(end, "%s%" PRId64, i > 0 ? "," : "", snapshot[i]);
    return end + sprintf(end, "]");
}

bool metrics_append_valid(Metrics *metrics, const ValidMetrics *m, Error *error) {
    const char *buckets = m->buckets ? m->buckets : "[]", *samples = m->samples ? m->samples : "[]";
    size_t size = 512 + strlen(buckets) + strlen(samples) + 24 * (size_t)m->snapshots;
    char *line = memory_alloc(size, 1, "line of metrics.jsonl"), *end = line, n[7][32];
    end += sprintf(end,
                   "{\"kind\":\"%s\",\"update\":%" PRId64 ",\"epoch\":%d,\"loss\":%s,\"nll\":%s,\"ppl\":%s,"
                   "\"bleu\":%s,\"chrf\":%s,\"exact_match\":%s,\"best\":%s,\"seconds\":%s",
                   m->snapshots > 0 ? "average" : "valid", m->update, m->epoch, number(n[0], m->loss),
                   number(n[1], m->nll), number(n[2], exp(m->nll)), number(n[3], m->bleu), number(n[4], m->chrf),
                   number(n[5], m->exact_match), m->best ? "true" : "false", number(n[6], m->seconds));
    if (m->closing) end += sprintf(end, ",\"closing\":true");
    if (m->snapshots > 0) end = add_snapshots(end, m->snapshot, m->snapshots);
    sprintf(end, ",\"buckets\":%s,\"samples\":%s}", buckets, samples);
    bool good = append(metrics, line, error);
    memory_free(line);
    return good;
}

bool metrics_append_norms(Metrics *metrics, int64_t update, int epoch, const Norms *n, Error *error) {
    size_t room = 128 + (size_t)n->groups * (NORM_GROUP_NAME + 160);
    char *line = memory_alloc(room, 1, "a line of metrics"), *end = line, number_of[3][32];
    end += sprintf(end, "{\"kind\":\"norms\",\"update\":%" PRId64 ",\"epoch\":%d,\"groups\":[", update, epoch);
    for (int g = 0; g < n->groups; g++)
        end += sprintf(end, "%s{\"name\":\"%s\",\"gradient\":%s,\"weight\":%s,\"ratio\":%s}", g > 0 ? "," : "",
                       n->name[g], number(number_of[0], n->gradient[g]), number(number_of[1], n->weight[g]),
                       number(number_of[2], n->update[g] / n->weight[g]));
    sprintf(end, "]}");
    bool good = append(metrics, line, error);
    memory_free(line);
    return good;
}

bool metrics_append_resume(Metrics *metrics, int64_t update, Error *error) {
    char line[64];
    snprintf(line, sizeof line, "{\"kind\":\"resume\",\"update\":%" PRId64 "}", update);
    return append(metrics, line, error);
}
