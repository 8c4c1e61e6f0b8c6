/* The line of a terminal that tells how far the program is: redrawn in place, and gone before anything else is said.
 *
 *     Progress p;
 *     progress_begin(&p, "encoding", lines);
 *     for (...) progress_add(&p, 1);
 *     progress_end(&p);
 *
 * There is one such line, on stderr. Where stderr is no terminal, or one that cannot move its cursor (TERM=dumb), nothing
 * is ever shown, and progress_add is one comparison. On a terminal it reads a clock, about 50 ns: it is put around
 * sentences and batches, never around numbers. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Progress {
    const char *what; /* borrowed */
    int64_t total;    /* 0: not known */
    _Atomic int64_t done;
    double start;
    bool shown;
} Progress;

/* Shows "what ..." at once, then "what 40%  12s left", ten times a second at most. */
void progress_begin(Progress *p, const char *what, int64_t total);
void progress_add(Progress *p, int64_t done); /* on any thread */
void progress_end(Progress *p);

/* Replaces the line by any text, at once. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is there a terminal to show something on, and is it a tenth of a second since the line was drawn? */
bool progress_due(void);

/* Takes the line away; whoever prints to stderr calls it first. */
void progress_clear(void);

/* From here on nothing is shown. */
void progress_off(void);

/* A signal handler: takes the line away and dies of the signal. It serves SIGINT, SIGTERM and SIGHUP as soon as a line is
 * shown, unless these are ignored or have another handler. */
void progress_die(int signal_number);

/* "12s", "3m05s", "2h07m" into out. */
const char *progress_duration(char out[32], double seconds);

#endif
