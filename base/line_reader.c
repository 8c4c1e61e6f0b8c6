#include "base/line_reader.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { FIRST_BYTES = 1 << 16 };

void line_reader_init(LineReader *r, int descriptor) {
    *r = (LineReader){.descriptor = descriptor, .capacity = FIRST_BYTES};
    r->bytes = memory_alloc(r->capacity, 1, "lines to read");
}

void line_reader_init_from(LineReader *r, ReadBytes *read_bytes, void *from) {
    line_reader_init(r, -1);
    r->read_bytes = read_bytes;
    r->from = from;
}

void line_reader_free(LineReader *r) { memory_free(r->bytes); }

/* Makes room behind `end`: by moving what is left to the front, else by growing. */
static void make_room(LineReader *r) {
    if (r->start > 0) {
        memmove(r->bytes, r->bytes + r->start, r->end - r->start);
        r->end -= r->start;
        r->start = 0;
    }
    if (r->end == r->capacity) {
        r->bytes = memory_grow(r->bytes, r->capacity, 2 * r->capacity, 1, "a long line");
        r->capacity *= 2;
    }
}

/* Reads what is there, waiting for something. */
static void read_more(LineReader *r) {
    if (r->end == r->capacity) make_room(r);
    size_t room = r->capacity - r->end;
    ssize_t got = r->read_bytes != NULL ? r->read_bytes(r->from, r->bytes + r->end, room)
                                        : read(r->descriptor, r->bytes + r->end, room);
    if (got > 0) r->end += (size_t)got;
    if (got < 0 && errno != EINTR) r->failure = errno;
    r->finished = got == 0 || r->failure != 0;
}

static Line trimmed(const char *text, size_t length) {
    if (length > 0 && text[length - 1] == '\r') length--;
    return (Line){text, length};
}

static void drop_mark(LineReader *r) {
    while (!r->finished && r->end - r->start < 3) read_more(r);
    if (r->end - r->start >= 3 && memcmp(r->bytes + r->start, "\xEF\xBB\xBF", 3) == 0) r->start += 3;
    r->started = true;
}

bool line_reader_next(LineReader *r, Line *line) {
    if (!r->started) drop_mark(r);
    size_t searched = 0; /* of what is not given out */
    for (;;) {
        char *from = r->bytes + r->start, *newline = memchr(from + searched, '\n', r->end - r->start - searched);
        if (newline != NULL) {
            *line = trimmed(from, (size_t)(newline - from));
            r->start += (size_t)(newline - from) + 1;
            return true;
        }
        searched = r->end - r->start;
        if (r->finished) break;
        read_more(r);
    }
    if (r->start == r->end || r->failure != 0) return false;
    *line = trimmed(r->bytes + r->start, r->end - r->start);
    r->start = r->end;
    return true;
}

bool line_reader_ready(const LineReader *r) {
    if (r->finished || r->read_bytes != NULL || memchr(r->bytes + r->start, '\n', r->end - r->start) != NULL)
        return true;
    struct pollfd one = {.fd = r->descriptor, .events = POLLIN};
    return poll(&one, 1, 0) != 0;
}
