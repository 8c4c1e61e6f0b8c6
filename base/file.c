#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* "path: could not be <done>: <why>; <remedy>". The remedy follows from the reason. */
static bool failed(Error *error, const char *path, const char *done, int number) {
    const char *remedy = "check the path";
    if (number == ENOSPC || number == EDQUOT) remedy = "free some space";
    if (number == EFBIG) remedy = "raise the limit on file sizes (ulimit -f)";
    if (number == EACCES || number == EPERM || number == EROFS) remedy = "check who may read and write there";
    if (number == EIO) remedy = "check the disk";
    return error_set(error, "%s: could not be %s: %s; %s", path, done, strerror(number), remedy);
}

/* Writes all of it, however often the system takes only a part. 0, or the error number. */
static int write_all(int descriptor, const void *bytes, size_t size) {
    const char *p = bytes;
    while (size > 0) {
        /* One call writes less than 2 GB anyway; asking for less keeps it interruptible. */
        ssize_t n = write(descriptor, p, size < (1u << 28) ? size : 1u << 28);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return memory_text(".", 1);
    return memory_text(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Makes a name that was created or replaced durable. Some file systems cannot sync a directory (EINVAL):
 * nothing can be done there, and nothing is reported. */
static int sync_directory_of(const char *path) {
    char *directory = directory_of(path);
    int number = 0, descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        number = errno;
    else if (fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
        number = errno;
    if (descriptor >= 0) close(descriptor);
    memory_free(directory);
    return number;
}

static bool read_into(char *bytes, size_t size, int descriptor, const char *path, Error *error) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(descriptor, bytes + done, size - done < (1u << 28) ? size - done : 1u << 28);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(error, path, "read", errno);
        if (n == 0) return error_set(error, "%s: became shorter while it was read; try again", path);
        done += (size_t)n;
    }
    return true;
}

char *file_read(const char *path, size_t most, size_t *size, Error *error) {
    *size = 0;
    /* O_NONBLOCK: a pipe without a writer must not hang us; it is refused below. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    char *bytes = NULL;
    if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        error_set(error, "%s: there is no such file; check the path", path);
    } else if (descriptor < 0) {
        failed(error, path, "opened", errno);
    } else if (fstat(descriptor, &info) != 0) {
        failed(error, path, "read", errno);
    } else if (S_ISDIR(info.st_mode)) {
        error_set(error, "%s: is a directory; name a file", path);
    } else if (!S_ISREG(info.st_mode)) {
        error_set(error, "%s: is no regular file; copy its content to one", path);
    } else if ((uintmax_t)info.st_size > most) {
        error_set(error, "%s: has %jd bytes, more than the %zu allowed; is it the right file?", path,
                  (intmax_t)info.st_size, most);
    } else {
        *size = (size_t)info.st_size;
        bytes = memory_alloc(*size + 1, 1, path);
        if (!read_into(bytes, *size, descriptor, path, error)) {
            memory_free(bytes);
            bytes = NULL;
        }
    }
    if (descriptor >= 0) close(descriptor);
    return bytes;
}

bool file_exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

char *file_join(const char *directory, const char *name) {
    size_t length = strlen(directory), size = length + strlen(name) + 2;
    char *path = memory_alloc(size, 1, "path");
    bool slash = length > 0 && directory[length - 1] != '/';
    snprintf(path, size, "%s%s%s", directory, slash ? "/" : "", name);
    return path;
}

bool file_make_directories(const char *path, Error *error) {
    char *part = memory_text(path, strlen(path));
    bool ok = true;
    for (char *p = part; ok && *p != '\0'; p++) {
        bool last = p[1] == '\0';
        if (!last && p[1] != '/') continue;
        char after = p[1];
        p[1] = '\0';
        struct stat info;
        if (mkdir(part, 0777) != 0) {
            int number = errno;
            bool there = stat(part, &info) == 0;
            if (there && !S_ISDIR(info.st_mode))
                ok = error_set(error, "%s: is a file where a directory is needed; choose another path", part);
            else if (!there)
                ok = failed(error, part, "created", number);
        }
        p[1] = after;
    }
    memory_free(part);
    return ok;
}

/* Was the last line left without its end? */
static bool ends_inside_line(int descriptor) {
    struct stat info;
    char last = '\n';
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
    return pread(descriptor, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

/* Half a line must not stay. Where even this fails, the next line ends it. */
static void cut_back(int descriptor, off_t size) {
    if (ftruncate(descriptor, size) != 0) return;
}

bool file_append_line(const char *path, const char *text, Error *error) {
    int descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return failed(error, path, "opened for writing", errno);
    size_t length = strlen(text), used = 0;
    char *line = memory_alloc(length + 2, 1, "line of a log");
    if (ends_inside_line(descriptor)) line[used++] = '\n';
    memcpy(line + used, text, length);
    used += length;
    line[used++] = '\n';
    off_t before = lseek(descriptor, 0, SEEK_END);
    int number = write_all(descriptor, line, used);
    if (number == 0 && fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP) number = errno;
    if (number != 0 && before >= 0) cut_back(descriptor, before);
    memory_free(line);
    if (close(descriptor) != 0 && number == 0) number = errno;
    return number == 0 || failed(error, path, "written", number);
}

bool file_rename(const char *from, const char *to, Error *error) {
    if (rename(from, to) != 0) return failed(error, from, "renamed", errno);
    int number = sync_directory_of(to);
    return number == 0 || failed(error, to, "made durable", number);
}

bool file_write(const char *path, const void *bytes, size_t size, Error *error) {
    FileReplacement r;
    return file_replace_begin(&r, path, error) && file_replace_write(&r, bytes, size, error) &&
           file_replace_commit(&r, error);
}

/* Is it what the descriptor writes to? */
static bool is_open_as(int descriptor, const struct stat *info) {
    struct stat open;
    return fstat(descriptor, &open) == 0 && open.st_dev == info->st_dev && open.st_ino == info->st_ino;
}

/* A rename would put a file in the place of /dev/null or a FIFO, or take away what else goes to stdout. */
static bool can_be_replaced(const char *path, Error *error) {
    struct stat info;
    if (*path == '\0') return error_set(error, "the name of a file to write is empty; name a file");
    if (stat(path, &info) != 0) return true;
    if (is_open_as(STDOUT_FILENO, &info) || is_open_as(STDERR_FILENO, &info))
        return error_set(error, "%s: is where this program's own output goes; name another file", path);
    if (S_ISREG(info.st_mode)) return true;
    if (S_ISDIR(info.st_mode)) return error_set(error, "%s: is a directory; name a file", path);
    return error_set(error, "%s: is no regular file (a FIFO or a device); name a file", path);
}

/* The path, or the file that a link leads to: a rename would put a file in the place of the link. */
static char *without_link(const char *path) {
    struct stat info;
    char *real = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;
    char *found = memory_text(real != NULL ? real : path, strlen(real != NULL ? real : path));
    free(real);
    return found;
}

bool file_replace_begin(FileReplacement *r, const char *path, Error *error) {
    if (!can_be_replaced(path, error)) return false;
    *r = (FileReplacement){.path = without_link(path)};
    size_t length = strlen(r->path);
    r->temporary = memory_alloc(length + sizeof ".tmp", 1, "path");
    memcpy(r->temporary, r->path, length);
    strcpy(r->temporary + length, ".tmp");
    r->descriptor = open(r->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (r->descriptor >= 0) return true;
    failed(error, r->temporary, "created", errno);
    memory_free(r->path);
    memory_free(r->temporary);
    return false;
}

void file_replace_abandon(FileReplacement *r) {
    if (r->descriptor >= 0) close(r->descriptor);
    unlink(r->temporary);
    memory_free(r->path);
    memory_free(r->temporary);
    *r = (FileReplacement){.descriptor = -1};
}

/* Reports, removes the temporary, returns false. */
static bool give_up(FileReplacement *r, const char *done, int number, Error *error) {
    failed(error, r->path, done, number);
    file_replace_abandon(r);
    return false;
}

bool file_replace_write(FileReplacement *r, const void *bytes, size_t size, Error *error) {
    int number = write_all(r->descriptor, bytes, size);
    return number == 0 || give_up(r, "written", number, error);
}

bool file_replace_commit(FileReplacement *r, Error *error) {
    if (fsync(r->descriptor) != 0) return give_up(r, "written", errno, error);
    int descriptor = r->descriptor;
    r->descriptor = -1;
    if (close(descriptor) != 0) return give_up(r, "written", errno, error);
    if (rename(r->temporary, r->path) != 0) return give_up(r, "replaced", errno, error);
    int number = sync_directory_of(r->path);
    if (number != 0) failed(error, r->path, "made durable", number);
    memory_free(r->path);
    memory_free(r->temporary);
    return number == 0;
}
