#include "decoding/text_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static bool is_compressed(int descriptor) {
    unsigned char magic[2];
    return pread(descriptor, magic, 2, 0) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

/* zlib gives what it could read of a cut file before it complains. */
static ssize_t read_compressed(void *from, void *bytes, size_t size) {
    gzFile gz = from;
    unsigned most = size < 1 << 20 ? (unsigned)size : 1 << 20;
    int got = gzread(gz, bytes, most), status;
    gzerror(gz, &status);
    if (got > 0 || (got == 0 && status != Z_BUF_ERROR)) return got;
    errno = status == Z_ERRNO ? errno : EILSEQ;
    return -1;
}

bool text_input_open(TextInput *in, const char *path, Error *error) {
    struct stat info;
    *in = (TextInput){.name = path != NULL ? path : "standard input"};
    in->descriptor = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
    if (in->descriptor < 0 || fstat(in->descriptor, &info) != 0)
        return error_set(error, "%s: %s; check the path", in->name, strerror(errno));
    if (S_ISDIR(info.st_mode)) {
        close(in->descriptor);
        return error_set(error, "%s: is a directory; name a text file", in->name);
    }
    in->is_file = S_ISREG(info.st_mode);
    in->is_terminal = isatty(in->descriptor);
    if (!is_compressed(in->descriptor)) {
        line_reader_init(&in->lines, in->descriptor);
        return true;
    }
    in->gz = gzdopen(in->descriptor, "rb");
    if (in->gz == NULL) {
        close(in->descriptor);
        return error_set(error, "%s: cannot be decompressed: no memory", in->name);
    }
    line_reader_init_from(&in->lines, read_compressed, in->gz);
    return true;
}

bool text_input_close(TextInput *in, Error *error) {
    int failure = in->lines.failure;
    line_reader_free(&in->lines);
    if (in->gz != NULL)
        gzclose(in->gz);
    else
        close(in->descriptor);
    if (failure == EILSEQ) return error_set(error, "%s: is damaged or cut; what came before is translated", in->name);
    return failure == 0 || error_set(error, "%s: reading failed: %s", in->name, strerror(failure));
}

static ssize_t write_compressed(void *gz, const char *bytes, size_t size) {
    return gzwrite(gz, bytes, (unsigned)size); /* stdio's buffer is small; 0 tells it of a failure */
}

static int close_compressed(void *gz) { return gzclose(gz) == Z_OK ? 0 : EOF; }

bool text_input_is(const TextInput *in, const char *path) {
    struct stat a, b;
    return fstat(in->descriptor, &a) == 0 && stat(path, &b) == 0 && S_ISREG(b.st_mode) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static bool ends_in_gz(const char *path) {
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

FILE *text_output_open(const char *path, Error *error) {
    if (path == NULL) return stdout;
    FILE *out = NULL;
    if (ends_in_gz(path)) {
        gzFile gz = gzopen(path, "wb");
        cookie_io_functions_t calls = {.write = write_compressed, .close = close_compressed};
        if (gz != NULL) out = fopencookie(gz, "w", calls);
        if (gz != NULL && out == NULL) gzclose(gz);
    } else {
        out = fopen(path, "w");
    }
    if (out == NULL) error_set(error, "%s: %s; check the path of --output", path, strerror(errno));
    return out;
}

static bool written(bool good, const char *path, Error *error) {
    return good || error_set(error, "%s: writing failed: %s; is the disk full?", path ? path : "standard output",
                             strerror(errno));
}

bool text_output_flush(FILE *out, const char *path, Error *error) {
    return written(fflush(out) == 0 && !ferror(out), path, error);
}

bool text_output_close(FILE *out, const char *path, Error *error) {
    bool failed = ferror(out) != 0;
    return written(fclose(out) == 0 && !failed, path, error);
}
