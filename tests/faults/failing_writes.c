/* A library to be loaded before a program (LD_PRELOAD), which makes the program's writing to files fail, or kills it there.
 *
 *     FAULT_AT=n       the n-th call that creates, writes, syncs or renames; 0 or none: only count
 *     FAULT=28         errno of the failure, or "kill"
 *     FAULT_ALSO=1     all later calls fail too: a disk that stays full
 *     FAULT_COUNT=f    the number of calls is written to this file at the end
 *
 * A write fails as on a full disk: half of it is still written. What stdio writes is not seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long calls;

/* Stores the next definition of a function; ISO C knows no conversion from its address. */
static void find_next(void *function, const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

static long number(const char *name) {
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

/* Counts a call. Is it to fail? */
static int due(void) {
    long at = number("FAULT_AT");
    calls++;
    return at > 0 && (calls == at || (calls > at && number("FAULT_ALSO") != 0));
}

static int fail(void) {
    const char *fault = getenv("FAULT");
    if (fault != NULL && strcmp(fault, "kill") == 0) raise(SIGKILL);
    errno = (int)number("FAULT");
    return -1;
}

__attribute__((destructor)) static void write_count(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "%ld\n", calls);
    fclose(file);
}

int open(const char *path, int flags, ...) {
    int (*next)(const char *, int, ...);
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    find_next(&next, "open");
    return flags & O_CREAT && due() ? fail() : next(path, flags, mode);
}

/* Messages and pipes are no files. */
static int is_file(int descriptor) {
    struct stat info;
    return descriptor > 2 && fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    ssize_t (*next)(int, const void *, size_t);
    find_next(&next, "write");
    if (!is_file(descriptor) || !due()) return next(descriptor, bytes, size);
    if (next(descriptor, bytes, size / 2) < 0) return -1;
    return fail();
}

int fsync(int descriptor) {
    int (*next)(int);
    find_next(&next, "fsync");
    return due() ? fail() : next(descriptor);
}

int rename(const char *from, const char *to) {
    int (*next)(const char *, const char *);
    find_next(&next, "rename");
    return due() ? fail() : next(from, to);
}

int mkdir(const char *path, mode_t mode) {
    int (*next)(const char *, mode_t);
    struct stat info;
    find_next(&next, "mkdir");
    return stat(path, &info) != 0 && due() ? fail() : next(path, mode);
}
