/* metrics.jsonl read back: which of its lines count, and where they stand.
 *
 * A line counts if it begins as our lines do, {"kind":"...","update":n, and nothing later supersedes it:
 * - a "resume" line of update n, the lines before it of later updates, and those with "closing":true;
 * - a "train" line of an earlier update than the one before (a run that began anew in its directory), all from there on;
 * - a line of the same kind and update, the earlier one.
 * So the updates of each kind increase. What follows the update is checked only when a line is read. */
#ifndef TRAINING_METRICS_READ_H
#define TRAINING_METRICS_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

typedef enum MetricsKind { METRICS_TRAIN, METRICS_VALID, METRICS_NORMS, METRICS_AVERAGE, METRICS_KINDS } MetricsKind;

typedef struct MetricsLine {
    int64_t update;
    long offset;        /* in the file */
    bool best, closing; /* "best":true, "closing":true */
} MetricsLine;

typedef struct MetricsList {
    MetricsLine *line; /* [count] */
    size_t count, capacity;
} MetricsList;

typedef struct MetricsFile {
    FILE *file;
    char *text; /* the line being read, from getline */
    size_t size;
    MetricsList list[METRICS_KINDS];
} MetricsFile;

/* Fails where there is no such file. Lines that make no sense are passed over. */
bool metrics_file_open(MetricsFile *m, const char *path, Error *error);
void metrics_file_close(MetricsFile *m);

/* The line as an object; NULL if it is not one (cut off, or damaged). */
json_t *metrics_read(MetricsFile *m, const MetricsLine *line);

#endif
