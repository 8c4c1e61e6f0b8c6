/* The bytes of a file, plain or gzip-compressed (RFC 1952; several compressed parts in a row are one text), in
 * bounded memory. What is compressed is told by the first two bytes, not by the name.
 *
 * zlib's own gzread is not used: it ignores what follows the compressed data, and reads a .gz whose first bytes are
 * damaged as if it were text. */
#ifndef DATA_BYTE_STREAM_H
#define DATA_BYTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "base/error.h"

typedef struct ByteStream {
    const char *path; /* borrowed */
    int descriptor;
    int64_t size, taken;  /* bytes of the file, 0 where that is not known; and how many of them have been read */
    unsigned char *input; /* the last of them */
    bool compressed;
    z_stream zlib; /* its next_in and avail_in tell what of the input is left, in plain files too */
    bool inside;   /* of a compressed part */
    int parts;     /* that are complete */
} ByteStream;

typedef enum ByteSource {
    BYTES_OF_FILE, /* a regular file, which can be read again */
    BYTES_OF_ANY   /* a FIFO or a device too: waits for what comes */
} ByteSource;

/* Fails if the file is missing, unreadable, a directory, not of the kind that is asked for, or called .gz without being
 * one. Then there is nothing to close. */
bool byte_stream_open(ByteStream *stream, const char *path, ByteSource source, Error *error);
void byte_stream_close(ByteStream *stream);

/* Up to `room` bytes, as many as there are; 0 at the end. -1 and an error if reading fails, if the compressed data are
 * damaged or cut off, or if something else follows them. */
ptrdiff_t byte_stream_read(ByteStream *stream, char *bytes, size_t room, Error *error);

#endif
