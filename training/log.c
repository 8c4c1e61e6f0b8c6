#include "training/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

static void say_failure(Log *log, const char *done) {
    if (log->failed) return;
    log->failed = true;
    fprintf(stderr, "note       %s: could not be %s: %s; all goes on without it\n", log->path, done, strerror(errno));
}

void log_open(Log *log, const char *path) {
    *log = (Log){.terminal = isatty(STDERR_FILENO) == 1, .path = memory_text(path, strlen(path))};
    log->file = fopen(path, "a");
    if (log->file == NULL) say_failure(log, "opened");
}

void log_close(Log *log) {
    if (log->progress) fputc('\n', stderr);
    if (log->file != NULL && fclose(log->file) != 0) say_failure(log, "written");
    memory_free(log->path);
    *log = (Log){0};
}

static void clear_progress(Log *log) {
    if (log->progress) fputs("\r\033[K", stderr);
    log->progress = false;
}

void log_line(Log *log, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    clear_progress(log);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    if (log->file != NULL) {
        vfprintf(log->file, format, again);
        fputc('\n', log->file);
        if (fflush(log->file) != 0) say_failure(log, "written");
    }
    va_end(again);
    va_end(args);
}

void log_progress(Log *log, const char *format, ...) {
    if (!log->terminal) return;
    va_list args;
    va_start(args, format);
    clear_progress(log);
    vfprintf(stderr, format, args);
    fflush(stderr);
    log->progress = true;
    va_end(args);
}

const char *log_duration(char out[32], double seconds) {
    long s = seconds > 0 ? (long)(seconds + 0.5) : 0;
    if (s < 60)
        snprintf(out, 32, "%lds", s);
    else if (s < 3600)
        snprintf(out, 32, "%ldm%02lds", s / 60, s % 60);
    else
        snprintf(out, 32, "%ldh%02ldm", s / 3600, s % 3600 / 60);
    return out;
}
