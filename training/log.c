#include "training/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"

static bool quiet; /* a process has one stderr */

static void say_failure(Log *log, const char *done) {
    if (log->failed) return;
    log->failed = true;
    progress_clear();
    fprintf(stderr, "note       %s: could not be %s: %s; all goes on without it\n", log->path, done, strerror(errno));
}

void log_open(Log *log, const char *path) {
    *log = (Log){.file = fopen(path, "a"), .path = memory_text(path, strlen(path))};
    if (log->file == NULL) say_failure(log, "opened");
}

void log_close(Log *log) {
    progress_clear();
    if (log->file != NULL && fclose(log->file) != 0) say_failure(log, "written");
    memory_free(log->path);
    *log = (Log){0};
}

void log_quiet(void) {
    quiet = true;
    progress_off();
}

static bool print(FILE *out, const char *format, va_list args) {
    vfprintf(out, format, args);
    fputc('\n', out);
    return fflush(out) == 0;
}

void log_line(Log *log, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    progress_clear();
    if (!quiet) print(stderr, format, args);
    if (log->file != NULL && !print(log->file, format, again)) say_failure(log, "written");
    va_end(again);
    va_end(args);
}

void log_failure(Log *log, const char *text) {
    log_line(log, "%s", text);
    if (quiet) fprintf(stderr, "%s\n", text);
}
