#include "training/log.h"

#include <stdarg.h>
#include <stdbool.h>

#include "base/progress.h"

static bool quiet; /* a process has one stderr */

void log_open(Log *log, const char *path) { *log = (Log){.file = fopen(path, "a")}; }

void log_close(Log *log) {
    progress_clear();
    if (log->file != NULL) fclose(log->file);
    *log = (Log){0};
}

void log_quiet(void) {
    quiet = true;
    progress_off();
}

static void print(FILE *out, const char *format, va_list args) {
    vfprintf(out, format, args);
    fputc('\n', out);
    fflush(out);
}

void log_line(Log *log, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    progress_clear();
    if (!quiet) print(stderr, format, args);
    if (log->file != NULL) print(log->file, format, again);
    va_end(again);
    va_end(args);
}

void log_failure(Log *log, const char *text) {
    log_line(log, "%s", text);
    if (quiet) fprintf(stderr, "%s\n", text);
}
