/* Curves for TensorBoard: a file of events, each a few scalars at one update.
 *
 * File: TFRecords one behind the other (tensorflow/core/lib/io/record_writer.h), each
 *     uint64 length, uint32 masked CRC of these 8 bytes, `length` bytes, uint32 masked CRC of the bytes,
 * numbers little-endian. masked CRC = rotate_right(crc32c, 15) + 0xa282ead8.
 * The bytes are a message Event (tensorflow/core/util/event.proto) in the wire format of Protocol Buffers. The first is
 * the file's version, the second says that a session starts.
 *
 * A resume starts a new file. What it supersedes disappears in two ways, since TensorBoard has two readers: the Python
 * one reads "brain.Event:2" files by name and, at each SessionLog START but the first, forgets all steps from that
 * event's step on (plugin_event_accumulator.py); the Rust one, the usual one, does so for a curve as soon as one of its
 * points has a step that is not above the last (reservoir.rs). */
#ifndef TRAINING_TENSORBOARD_H
#define TRAINING_TENSORBOARD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct EventFile {
    char *path; /* NULL: not open */
    int descriptor;
} EventFile;

/* Starts a new file in the directory, which is created where it is missing. Its name comes after those of the files that
 * are there, whatever the clock says: readers go by names. Steps from `first_step` on in earlier files are superseded. */
bool event_file_open(EventFile *f, const char *directory, int64_t first_step, Error *error);
void event_file_close(EventFile *f); /* one that is not open too */

typedef struct EventScalar {
    const char *tag; /* such as train/loss */
    double value;
} EventScalar;

/* Adds the event of a step. A record that could not be written whole is taken back, so that the file stays readable. */
bool event_file_add(EventFile *f, int64_t step, const EventScalar *scalar, int count, Error *error);

/* A message while it is built, and a record. */
enum { EVENT_MOST_BYTES = 1024 };
typedef struct EventBytes {
    unsigned char byte[EVENT_MOST_BYTES];
    size_t size;
} EventBytes;

/* The Event of a step, as bytes. wall_time: seconds since 1970. */
EventBytes event_scalars(double wall_time, int64_t step, const EventScalar *scalar, int count);
EventBytes event_record(const EventBytes *event);

/* CRC-32C (Castagnoli, Brauer, Herrmann 1993; RFC 3720 section 12.1): reflected polynomial 0x82f63b78. */
uint32_t crc32c(const void *bytes, size_t size);

#endif
