#include "training/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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
    char line[512], n[7][32];
    snprintf(line, sizeof line,
             "{\"kind\":\"valid\",\"update\":%" PRId64 ",\"epoch\":%d,\"loss\":%s,\"nll\":%s,\"ppl\":%s,"
             "\"bleu\":%s,\"chrf\":%s,\"exact_match\":%s,\"best\":%s,\"seconds\":%s}",
             m->update, m->epoch, number(n[0], m->loss), number(n[1], m->nll), number(n[2], exp(m->nll)),
             number(n[3], m->bleu), number(n[4], m->chrf), number(n[5], m->exact_match), m->best ? "true" : "false",
             number(n[6], m->seconds));
    return file_append_line(path, line, error);
}

bool metrics_append_norms(const char *path, int64_t update, int epoch, const Norms *n, Error *error) {
    size_t room = 128 + (size_t)n->groups * (NORM_GROUP_NAME + 160);
    char *line = memory_alloc(room, 1, "a line of metrics"), *end = line, number_of[3][32];
    end += sprintf(end, "{\"kind\":\"norms\",\"update\":%" PRId64 ",\"epoch\":%d,\"groups\":[", update, epoch);
    for (int g = 0; g < n->groups; g++)
        end += sprintf(end, "%s{\"name\":\"%s\",\"gradient\":%s,\"weight\":%s,\"ratio\":%s}", g > 0 ? "," : "",
                       n->name[g], number(number_of[0], n->gradient[g]), number(number_of[1], n->weight[g]),
                       number(number_of[2], n->update[g] / n->weight[g]));
    sprintf(end, "]}");
    bool good = file_append_line(path, line, error);
    memory_free(line);
    return good;
}

bool metrics_append_resume(const char *path, int64_t update, Error *error) {
    char line[64];
    snprintf(line, sizeof line, "{\"kind\":\"resume\",\"update\":%" PRId64 "}", update);
    return file_append_line(path, line, error);
}
