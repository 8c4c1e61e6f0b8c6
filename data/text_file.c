#include "data/text_file.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "data/byte_stream.h"

enum { FIRST_BYTES = 1 << 20 };

/* Where in a text that grows the last line begins, and how many lines lie before it. */
typedef struct LineScan {
    size_t start, before;
} LineScan;

/* Looks at bytes[from..size), which are new. */
static bool scan_lines(LineScan *scan, const char *bytes, size_t from, size_t size, const char *path, Error *error) {
    for (size_t at = from;;) {
        const char *newline = memchr(bytes + at, '\n', size - at);
        size_t end = newline != NULL ? (size_t)(newline - bytes) : size;
        if (end - scan->start > TEXT_LONGEST_LINE)
            return error_set(error,
                             "%s:%zu: this line is longer than %d bytes, the longest that is read; is it a text with "
                             "one sentence a line?",
                             path, scan->before + 1, TEXT_LONGEST_LINE);
        if (newline == NULL) return true;
        scan->before++;
        scan->start = at = end + 1;
    }
}

/* All bytes of the stream, from memory_alloc; NULL with an error. */
static char *read_all(size_t *size, ByteStream *stream, Progress *progress, Error *error) {
    size_t capacity = FIRST_BYTES;
    char *bytes = memory_alloc(capacity, 1, "text of a corpus");
    LineScan scan = {0};
    *size = 0;
    for (;;) {
        if (*size == capacity) {
            bytes = memory_grow(bytes, *size, 2 * capacity, 1, "text of a corpus");
            capacity *= 2;
        }
        ptrdiff_t got = byte_stream_read(stream, bytes + *size, capacity - *size, error);
        if (got == 0) return bytes;
        if (got < 0 || !scan_lines(&scan, bytes, *size, *size + (size_t)got, stream->path, error)) break;
        *size += (size_t)got;
        progress_add(progress, stream->taken - progress->done);
    }
    memory_free(bytes);
    return NULL;
}

static bool read_lines(Lines *lines, const char *path, ByteSource source, Error *error) {
    ByteStream stream;
    size_t size;
    if (!byte_stream_open(&stream, path, source, error)) return false;
    char what[256];
    snprintf(what, sizeof what, "reading %s", path);
    Progress progress;
    progress_begin(&progress, what, stream.size);
    char *bytes = read_all(&size, &stream, &progress, error);
    progress_end(&progress);
    byte_stream_close(&stream);
    if (bytes == NULL) return false;
    lines_split(lines, bytes, size);
    if (lines->count > 0) return true;
    lines_free(lines);
    return error_set(error, "%s: is empty; a corpus needs at least one line", path);
}

bool text_file_read(Lines *lines, const char *path, Error *error) {
    return read_lines(lines, path, BYTES_OF_FILE, error);
}

bool text_read_once(Lines *lines, const char *path, Error *error) {
    return read_lines(lines, path, BYTES_OF_ANY, error);
}
