#include "training/tensorboard.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

/* ---- records ---- */

uint32_t crc32c(const void *bytes, size_t size) {
    uint32_t crc = 0xffffffff;
    for (const unsigned char *p = bytes; size > 0; p++, size--) {
        crc ^= *p;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static void put(EventBytes *b, const void *bytes, size_t size) {
    assert(b->size + size <= EVENT_MOST_BYTES);
    memcpy(b->byte + b->size, bytes, size);
    b->size += size;
}

/* The lowest `size` bytes of a value, lowest first. */
static void put_fixed(EventBytes *b, uint64_t value, int size) {
    for (int i = 0; i < size; i++) put(b, &(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

static void put_crc(EventBytes *b, const void *bytes, size_t size) {
    uint32_t crc = crc32c(bytes, size);
    put_fixed(b, (crc >> 15 | crc << 17) + 0xa282ead8, 4);
}

EventBytes event_record(const EventBytes *event) {
    EventBytes b = {.size = 0};
    put_fixed(&b, event->size, 8);
    put_crc(&b, b.byte, 8);
    put(&b, event->byte, event->size);
    put_crc(&b, event->byte, event->size);
    return b;
}

/* ---- messages: a field is its key, number * 8 + wire type, and its value (protobuf.dev, Encoding) ---- */

enum { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2, WIRE_32_BITS = 5 };

/* Seven bits a byte, lowest first; the eighth bit says that another byte follows. */
static void put_varint(EventBytes *b, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_fixed(b, value | 0x80, 1);
    put_fixed(b, value, 1);
}

static void put_key(EventBytes *b, unsigned number, unsigned wire_type) { put_varint(b, number * 8 + wire_type); }

static void field_varint(EventBytes *b, unsigned number, uint64_t value) {
    put_key(b, number, WIRE_VARINT);
    put_varint(b, value);
}

static void field_double(EventBytes *b, unsigned number, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(b, number, WIRE_64_BITS);
    put_fixed(b, bits, 8);
}

static void field_float(EventBytes *b, unsigned number, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(b, number, WIRE_32_BITS);
    put_fixed(b, bits, 4);
}

static void field_bytes(EventBytes *b, unsigned number, const void *bytes, size_t size) {
    put_key(b, number, WIRE_BYTES);
    put_varint(b, size);
    put(b, bytes, size);
}

/* Fields of Event: wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7. */
static EventBytes event_begin(double wall_time, int64_t step) {
    EventBytes event = {.size = 0};
    field_double(&event, 1, wall_time);
    field_varint(&event, 2, (uint64_t)step);
    return event;
}

static EventBytes event_version(double wall_time) {
    EventBytes event = event_begin(wall_time, 0);
    field_bytes(&event, 3, "brain.Event:2", 13);
    return event;
}

/* SessionLog: status = 1; START is 1. */
static EventBytes event_start(double wall_time, int64_t step) {
    EventBytes event = event_begin(wall_time, step), log = {.size = 0};
    field_varint(&log, 1, 1);
    field_bytes(&event, 7, log.byte, log.size);
    return event;
}

/* Summary: value = 1, once for each scalar; Summary.Value: tag = 1, simple_value = 2. */
EventBytes event_scalars(double wall_time, int64_t step, const EventScalar *scalar, int count) {
    EventBytes event = event_begin(wall_time, step), summary = {.size = 0};
    for (int i = 0; i < count; i++) {
        EventBytes value = {.size = 0};
        field_bytes(&value, 1, scalar[i].tag, strlen(scalar[i].tag));
        field_float(&value, 2, (float)scalar[i].value);
        field_bytes(&summary, 1, value.byte, value.size);
    }
    field_bytes(&event, 5, summary.byte, summary.size);
    return event;
}

/* ---- files ---- */

static bool append(EventFile *f, EventBytes event, Error *error) {
    EventBytes record = event_record(&event);
    off_t end = lseek(f->descriptor, 0, SEEK_END);
    ssize_t written = write(f->descriptor, record.byte, record.size);
    if (written == (ssize_t)record.size) return true;
    int number = written < 0 ? errno : ENOSPC;
    if (written > 0 && ftruncate(f->descriptor, end) != 0) number = errno;
    return error_set(error, "%s: could not be written: %s", f->path, strerror(number));
}

/* The number in events.out.tfevents.NUMBER: seconds since 1970, but above those of all files that are there. */
static int64_t next_number(const char *directory) {
    int64_t number = (int64_t)time(NULL), other;
    DIR *d = opendir(directory);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (sscanf(e->d_name, "events.out.tfevents.%" SCNd64, &other) == 1 && other >= number) number = other + 1;
    if (d != NULL) closedir(d);
    return number;
}

bool event_file_open(EventFile *f, const char *directory, int64_t first_step, Error *error) {
    char name[64];
    *f = (EventFile){.descriptor = -1};
    if (!file_make_directories(directory, error)) return false;
    snprintf(name, sizeof name, "events.out.tfevents.%010" PRId64, next_number(directory));
    f->path = file_join(directory, name);
    f->descriptor = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    double now = clock_read(CLOCK_REALTIME);
    bool good = f->descriptor >= 0 || error_set(error, "%s: could not be created: %s", f->path, strerror(errno));
    good = good && append(f, event_version(now), error) && append(f, event_start(now, first_step), error);
    if (!good) event_file_close(f);
    return good;
}

void event_file_close(EventFile *f) {
    if (f->path != NULL && f->descriptor >= 0) close(f->descriptor);
    memory_free(f->path);
    *f = (EventFile){.descriptor = -1};
}

bool event_file_add(EventFile *f, int64_t step, const EventScalar *scalar, int count, Error *error) {
    return append(f, event_scalars(clock_read(CLOCK_REALTIME), step, scalar, count), error);
}
