/* What training says: to stderr and to the run's train.log. On a terminal a progress line is redrawn in place between
 * the lines that stay; elsewhere only those lines are printed. */
#ifndef TRAINING_LOG_H
#define TRAINING_LOG_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Log {
    FILE *file;    /* train.log, or NULL */
    char *path;    /* its name */
    bool failed;   /* a write to it has failed, and that was said */
    bool terminal; /* stderr is one */
    bool progress; /* a progress line stands there */
} Log;

/* Appends. Where the file cannot be opened or written, that is said once, and all goes on: stderr has the lines too. */
void log_open(Log *log, const char *path);
void log_close(Log *log);

/* One line that stays. */
void log_line(Log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces the progress line; nothing where stderr is not a terminal. */
void log_progress(Log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "12s", "3m05s", "2h07m" into out. */
const char *log_duration(char out[32], double seconds);

#endif
