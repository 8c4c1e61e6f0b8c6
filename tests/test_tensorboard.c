/* Event files for TensorBoard: checksums, the bytes of a record, names, and files that are cut off or cannot grow.
 * scripts/check_tensorboard.py compares with TensorBoard itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "training/tensorboard.h"

/* RFC 3720, appendix B.4, and the usual check value of "123456789". */
static void test_crc32c(void **state) {
    (void)state;
    unsigned char bytes[32] = {0};
    assert_int_equal(crc32c(bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(crc32c(bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++) bytes[i] = (unsigned char)i;
    assert_int_equal(crc32c(bytes, 32), 0x46dd794e);
    assert_int_equal(crc32c("123456789", 9), 0xe3069283);
    assert_int_equal(crc32c("", 0), 0);
}

/* As TensorBoard 2.21 writes it: event_pb2.Event serialised, RecordWriter's frame around it. */
static void test_record(void **state) {
    (void)state;
    static const unsigned char right[] = {0x2c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf4, 0xae, 0xcc, 0x45,
                                          0x09, 0x00, 0x00, 0x20, 0x40, 0xfc, 0x54, 0xd9, 0x41, 0x10, 0xac, 0x02,
                                          0x2a, 0x1e, 0x0a, 0x11, 0x0a, 0x0a, 0x74, 0x72, 0x61, 0x69, 0x6e, 0x2f,
                                          0x6c, 0x6f, 0x73, 0x73, 0x15, 0x00, 0x00, 0xa0, 0x3f, 0x0a, 0x09, 0x0a,
                                          0x02, 0x6c, 0x72, 0x15, 0x82, 0xa8, 0xfb, 0xb7, 0xfa, 0x7d, 0x3e, 0x11};
    const EventScalar scalar[] = {{"train/loss", 1.25}, {"lr", -3e-5}};
    EventBytes event = event_scalars(1700000000.5, 300, scalar, 2), record = event_record(&event);
    assert_int_equal(record.size, sizeof right);
    assert_memory_equal(record.byte, right, sizeof right);
}

/* Numbers in little-endian order. */
static uint64_t number(const unsigned char *p, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++) value |= (uint64_t)p[i] << 8 * i;
    return value;
}

/* The whole records of a file, counted, and its events end to end in `events` [size]; a record cut off ends it. */
static int read_records(const char *path, unsigned char *events, size_t size) {
    size_t length;
    unsigned char *bytes = (unsigned char *)scratch_read(path, &length), *p = bytes;
    int count = 0;
    memset(events, 0, size);
    while (bytes + length - p >= 16 && (size_t)(bytes + length - p) >= 16 + number(p, 8)) {
        size_t inside = number(p, 8);
        uint32_t crc = crc32c(p, 8), masked = (crc >> 15 | crc << 17) + 0xa282ead8;
        assert_int_equal(number(p + 8, 4), masked);
        crc = crc32c(p + 12, inside), masked = (crc >> 15 | crc << 17) + 0xa282ead8;
        assert_int_equal(number(p + 12 + inside, 4), masked);
        assert_true(inside <= size);
        memcpy(events, p + 12, inside);
        events += inside, size -= inside;
        p += 16 + inside;
        count++;
    }
    free(bytes);
    return count;
}

static bool holds(const unsigned char *events, size_t size, const void *bytes, size_t count) {
    return memmem(events, size, bytes, count) != NULL;
}

/* A file begins with its version and a start of session at the first step, and is named after those before it. */
static void test_files(void **state) {
    (void)state;
    Error error = {""};
    EventFile f;
    unsigned char events[4096];
    char last[512] = "";
    const char *directory = (scratch_create(), scratch_path("run/tensorboard"));
    const EventScalar loss = {"train/loss", 2};
    for (int session = 0; session < 3; session++) { /* within a second */
        if (!event_file_open(&f, directory, session * 50 + 1, &error)) fail_msg("%s", error.text);
        assert_true(strcmp(f.path, last) > 0);
        snprintf(last, sizeof last, "%s", f.path);
        for (int i = 0; i < 5; i++) assert_true(event_file_add(&f, i, &loss, 1, &error));
        event_file_close(&f);
        event_file_close(&f); /* nothing to do */
        assert_int_equal(read_records(last, events, sizeof events), 7);
        assert_true(holds(events, sizeof events,
                          "\x1a\x0d"
                          "brain.Event:2",
                          15));
        const unsigned char start[] = {0x10, (unsigned char)(session * 50 + 1), 0x3a, 0x02, 0x08, 0x01};
        assert_true(holds(events, sizeof events, start, sizeof start));
    }
    assert_int_equal(truncate(last, 80), 0); /* as a kill may leave it */
    assert_true(event_file_open(&f, directory, 50, &error));
    assert_true(strcmp(f.path, last) > 0);
    assert_int_equal(read_records(f.path, events, sizeof events), 2);
    assert_true(read_records(last, events, sizeof events) < 7);
    event_file_close(&f);
    scratch_remove();
}

/* A record that finds no room is taken back: the file ends with a whole one. */
static void test_no_room(void **state) {
    (void)state;
    Error error = {""};
    EventFile f;
    unsigned char events[4096];
    const EventScalar loss = {"train/loss", 2};
    const char *directory = (scratch_create(), scratch_path("tensorboard"));
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    assert_true(event_file_open(&f, directory, 1, &error));
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){.rlim_cur = 300, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int added = 0;
    while (added < 10 && event_file_add(&f, added, &loss, 1, &error)) added++;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(added > 1 && added < 10);
    assert_non_null(strstr(error.text, "could not be written"));
    assert_true(event_file_add(&f, 99, &loss, 1, &error));
    assert_int_equal(read_records(f.path, events, sizeof events), 2 + added + 1);
    event_file_close(&f);

    scratch_write(scratch_path("file"), "x", 1);
    assert_false(event_file_open(&f, scratch_path("file"), 1, &error));
    assert_non_null(strstr(error.text, "is a file where a directory is needed"));
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc32c),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
