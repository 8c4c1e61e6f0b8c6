#include "data/byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { INPUT_BYTES = 1 << 16, GZIP_FORMAT = 16 + MAX_WBITS };

/* Reads the next part of the file into the input, which is used up: a whole one, although a pipe gives less at a time,
 * so that the first holds the bytes that tell the format. False and an error if that fails. */
static bool refill(ByteStream *s, Error *error) {
    unsigned count = 0;
    for (ssize_t got = 1; got != 0 && count < INPUT_BYTES;) {
        got = read(s->descriptor, s->input + count, INPUT_BYTES - count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return error_set(error, "%s: cannot be read (%s); check the disk", s->path, strerror(errno));
        count += (unsigned)got;
    }
    s->taken += count;
    s->zlib.next_in = s->input;
    s->zlib.avail_in = count;
    return true;
}

/* O_NONBLOCK: where no FIFO is wanted, one without a writer must not hang us. */
static bool open_file(ByteStream *s, ByteSource source, Error *error) {
    struct stat info;
    s->descriptor = open(s->path, O_RDONLY | O_CLOEXEC | (source == BYTES_OF_FILE ? O_NONBLOCK : 0));
    if (s->descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(error, "%s: %s; check the path, which is relative to where the command runs", s->path,
                         strerror(errno));
    if (s->descriptor < 0 || fstat(s->descriptor, &info) != 0)
        return error_set(error, "%s: cannot be read (%s); make the file readable", s->path, strerror(errno));
    if (S_ISDIR(info.st_mode)) return error_set(error, "%s: is a directory; name a text file", s->path);
    if (source == BYTES_OF_FILE && !S_ISREG(info.st_mode))
        return error_set(error, "%s: is no regular file (a FIFO or a device); copy its text to a file", s->path);
    s->size = S_ISREG(info.st_mode) ? info.st_size : 0;
    return true;
}

static bool is_called_gz(const char *path) {
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static bool find_format(ByteStream *s, Error *error) {
    s->compressed = s->zlib.avail_in >= 2 && s->input[0] == 0x1F && s->input[1] == 0x8B;
    if (!s->compressed && s->zlib.avail_in > 0 && is_called_gz(s->path))
        return error_set(error, "%s: cannot be read (it is called .gz but is no gzip file); check that it is whole",
                         s->path);
    if (s->compressed && inflateInit2(&s->zlib, GZIP_FORMAT) != Z_OK) {
        s->compressed = false;
        return error_set(error, "%s: cannot be read (out of memory)", s->path);
    }
    s->inside = s->compressed;
    return true;
}

bool byte_stream_open(ByteStream *s, const char *path, ByteSource source, Error *error) {
    *s = (ByteStream){.path = path};
    bool good = open_file(s, source, error);
    if (good) {
        s->input = memory_alloc(INPUT_BYTES, 1, "input of a text file");
        good = refill(s, error) && find_format(s, error);
    }
    if (!good) byte_stream_close(s);
    return good;
}

void byte_stream_close(ByteStream *s) {
    if (s->compressed) inflateEnd(&s->zlib);
    if (s->descriptor >= 0) close(s->descriptor);
    memory_free(s->input);
    *s = (ByteStream){.descriptor = -1};
}

static ptrdiff_t read_plain(ByteStream *s, char *bytes, size_t room, Error *error) {
    if (s->zlib.avail_in == 0 && !refill(s, error)) return -1;
    size_t count = s->zlib.avail_in < room ? s->zlib.avail_in : room;
    memcpy(bytes, s->zlib.next_in, count);
    s->zlib.next_in += count;
    s->zlib.avail_in -= (unsigned)count;
    return (ptrdiff_t)count;
}

static ptrdiff_t damaged(const ByteStream *s, const char *how, Error *error) {
    if (s->parts > 0 && s->zlib.total_in <= 2) /* not even the two bytes with which a part begins */
        error_set(error, "%s: something else follows the compressed text; compress the text again", s->path);
    else
        error_set(error, "%s: cannot be read (gzip: %s); check that it is whole", s->path, how);
    return -1;
}

/* total_in counts from the beginning of a part: inflateReset clears it. */
static ptrdiff_t read_compressed(ByteStream *s, char *bytes, size_t room, Error *error) {
    z_stream *z = &s->zlib;
    z->next_out = (unsigned char *)bytes;
    z->avail_out = room < INPUT_BYTES ? (unsigned)room : INPUT_BYTES;
    size_t wanted = z->avail_out;
    while (z->avail_out > 0) {
        if (z->avail_in == 0 && !refill(s, error)) return -1;
        if (z->avail_in == 0 && s->inside) return damaged(s, "the file is cut off", error);
        if (z->avail_in == 0) break;
        if (!s->inside) inflateReset(z);
        int status = inflate(z, Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END)
            return damaged(s, z->msg != NULL ? z->msg : "damaged data", error);
        s->inside = status == Z_OK;
        s->parts += status == Z_STREAM_END;
    }
    return (ptrdiff_t)(wanted - z->avail_out);
}

ptrdiff_t byte_stream_read(ByteStream *s, char *bytes, size_t room, Error *error) {
    return s->compressed ? read_compressed(s, bytes, room, error) : read_plain(s, bytes, room, error);
}
