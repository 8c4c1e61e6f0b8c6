#include "training/metrics_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *const names[METRICS_KINDS] = {
    [METRICS_TRAIN] = "train", [METRICS_VALID] = "valid", [METRICS_NORMS] = "norms", [METRICS_AVERAGE] = "average"};

/* The kind's name and the update with which a line begins. */
static bool parse_head(char kind[16], int64_t *update, const char *text) {
    int digits = 0;
    if (sscanf(text, "{ \"kind\" : \"%15[a-z]\" , \"update\" : %n", kind, &digits) != 1 || digits == 0) return false;
    char *end;
    errno = 0;
    *update = strtoll(text + digits, &end, 10);
    char after = end[strspn(end, " ")];
    return end > text + digits && errno == 0 && *update >= 0 && (after == ',' || after == '}');
}

static void drop_from(MetricsList *list, int64_t update) {
    while (list->count > 0 && list->line[list->count - 1].update >= update) list->count--;
}

/* What a training wrote when it ended is superseded when it goes on. */
static void drop_closing(MetricsFile *m) {
    for (int kind = 0; kind < METRICS_KINDS; kind++) {
        MetricsList *list = &m->list[kind];
        while (list->count > 0 && list->line[list->count - 1].closing) list->count--;
    }
}

static void drop_all_from(MetricsFile *m, int64_t update) {
    for (int kind = 0; kind < METRICS_KINDS; kind++) drop_from(&m->list[kind], update);
}

static void append(MetricsList *list, MetricsLine line) {
    if (list->count == list->capacity) {
        list->capacity = 2 * list->count + 64;
        list->line = memory_grow(list->line, list->count, list->capacity, sizeof line, "places in metrics.jsonl");
    }
    list->line[list->count++] = line;
}

static void add(MetricsFile *m, const char *text, long offset) {
    char name[16];
    int64_t update;
    if (!parse_head(name, &update, text)) return;
    if (strcmp(name, "resume") == 0) {
        drop_all_from(m, update + 1);
        drop_closing(m);
    }
    int kind = 0;
    while (kind < METRICS_KINDS && strcmp(name, names[kind]) != 0) kind++;
    if (kind == METRICS_KINDS) return;
    MetricsList *list = &m->list[kind];
    bool anew = kind == METRICS_TRAIN && list->count > 0 && update < list->line[list->count - 1].update;
    if (anew) drop_all_from(m, update);
    drop_from(list, update);
    /* Inside a JSON string the quotes would have backslashes. */
    append(list, (MetricsLine){.update = update,
                               .offset = offset,
                               .best = strstr(text, "\"best\":true") != NULL,
                               .closing = strstr(text, "\"closing\":true") != NULL});
}

bool metrics_file_open(MetricsFile *m, const char *path, Error *error) {
    *m = (MetricsFile){.file = fopen(path, "r")};
    if (m->file == NULL) return error_set(error, "%s: could not be opened: %s; check the path", path, strerror(errno));
    long offset = 0;
    for (ssize_t length; (length = getline(&m->text, &m->size, m->file)) >= 0; offset += length)
        add(m, m->text, offset);
    return true;
}

void metrics_file_close(MetricsFile *m) {
    for (int kind = 0; kind < METRICS_KINDS; kind++) memory_free(m->list[kind].line);
    free(m->text);
    fclose(m->file);
    *m = (MetricsFile){0};
}

json_t *metrics_read(MetricsFile *m, const MetricsLine *line) {
    if (fseek(m->file, line->offset, SEEK_SET) != 0) return NULL;
    ssize_t length = getline(&m->text, &m->size, m->file);
    return length < 0 ? NULL : json_loadb(m->text, (size_t)length, JSON_ALLOW_NUL, NULL);
}
