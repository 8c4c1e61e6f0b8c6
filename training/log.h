/* What training says: to stderr and to the run's train.log. */
#ifndef TRAINING_LOG_H
#define TRAINING_LOG_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Log {
    FILE *file;  /* train.log, or NULL */
    char *path;  /* its name */
    bool failed; /* a write to it has failed, and that was said */
} Log;

/* Appends. Where the file cannot be opened or written, that is said once, and all goes on: stderr has the lines too. */
void log_open(Log *log, const char *path);
void log_close(Log *log);

/* One line, after taking the progress line away. */
void log_line(Log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From here on lines go to the file alone, and no progress is shown. */
void log_quiet(void);

/* The same as log_line, but never quiet. */
void log_failure(Log *log, const char *text);

#endif
