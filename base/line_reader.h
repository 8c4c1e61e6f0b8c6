/* Lines from a descriptor, or another source of bytes, as they come, for programs that answer while their input is still open.
 *
 * The same lines as base/lines.h: only \n ends one, a trailing \r and a byte order mark at the start are dropped. */
#ifndef BASE_LINE_READER_H
#define BASE_LINE_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/lines.h"

/* As read(2): waits for something, 0 at the end, -1 with errno after a failure. */
typedef ssize_t ReadBytes(void *from, void *bytes, size_t size);

typedef struct LineReader {
    int descriptor;
    ReadBytes *read_bytes; /* NULL: read the descriptor */
    void *from;
    char *bytes; /* [capacity]; start .. end-1 are read but not given out */
    size_t start, end, capacity;
    bool started, finished; /* some bytes have come; no more will */
    int failure;            /* errno of a failed read, or 0 */
} LineReader;

void line_reader_init(LineReader *r, int descriptor);
void line_reader_init_from(LineReader *r, ReadBytes *read_bytes, void *from);
void line_reader_free(LineReader *r);

/* Waits for the next line, without its end; it is valid until the next call. False at the end, or after a failure. */
bool line_reader_next(LineReader *r, Line *line);

/* Is more input here already, or its end? If not, line_reader_next would wait. Always true of another source. */
bool line_reader_ready(const LineReader *r);

#endif
