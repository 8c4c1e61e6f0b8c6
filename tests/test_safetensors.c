/* safetensors: exact round trips, every mistake of a file named, damage detected, failing writes harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "run/safetensors.h"
#include "tests/support/scratch.h"

static int create(void **state) {
    (void)state;
    scratch_create();
    return 0;
}

static int destroy(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

/* One tensor of each type; the narrow ones first, so that the writer has to order them. */
static const uint8_t bytes_u8[3] = {1, 2, 255};
static const float floats[6] = {0.1f, -2.5f, 3e-42f, 1e38f, -0.0f, 7};
static const int32_t ints[2] = {-1, 1 << 30};
static const double doubles[1] = {0.1};
static const int64_t longs[2] = {INT64_MIN, INT64_MAX};
static const SafetensorsTensor tensors[] = {
    {"u8", SAFETENSORS_U8, 1, {3}, bytes_u8},
    {"none.z", SAFETENSORS_F32, 2, {4, 0}, NULL},
    {"none.a", SAFETENSORS_F32, 1, {0}, NULL},
    {"f32", SAFETENSORS_F32, 2, {2, 3}, floats},
    {"i32", SAFETENSORS_I32, 1, {2}, ints},
    {"scalar", SAFETENSORS_F64, 0, {0}, doubles},
    {"i64 \"q\" \xC3\xA9", SAFETENSORS_I64, 1, {2}, longs},
};
enum { TENSORS = sizeof tensors / sizeof tensors[0] };
static const SafetensorsPair pairs[] = {{"update", "12"}, {"config", "[a]\nb = \"c\"\n"}};

static void write_good(const char *path) {
    Error error;
    if (!safetensors_write(path, tensors, TENSORS, pairs, 2, &error)) fail_msg("%s", error.text);
}

static void test_round_trip(void **state) {
    (void)state;
    const char *path = scratch_path("good.safetensors");
    Safetensors file;
    Error error;
    write_good(path);
    assert_true(safetensors_read(&file, path, &error));
    assert_int_equal(file.tensors, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        const SafetensorsTensor *t = safetensors_find(&file, tensors[i].name);
        assert_non_null(t);
        assert_int_equal(t->type, tensors[i].type);
        assert_int_equal(t->rank, tensors[i].rank);
        assert_memory_equal(t->shape, tensors[i].shape, (size_t)t->rank * sizeof t->shape[0]);
        size_t size = (size_t)safetensors_count(t) * safetensors_type_size(t->type);
        if (size > 0) assert_memory_equal(t->data, tensors[i].data, size);
        assert_int_equal((uintptr_t)t->data % safetensors_type_size(t->type), 0);
    }
    assert_null(safetensors_find(&file, "f3"));
    assert_null(safetensors_metadata(&file, "none"));
    assert_string_equal(safetensors_metadata(&file, "config"), pairs[1].value);
    assert_string_equal(safetensors_metadata(&file, "format"), "pt");
    assert_int_equal(strlen(safetensors_metadata(&file, "tandem.checksum")), 16);
    safetensors_free(&file);
    size_t size;
    char *raw = scratch_read(path, &size);
    assert_int_equal((unsigned char)raw[0] % 8, 0);
    assert_int_equal(size, 8 + *(uint64_t *)(void *)raw + 8 + 16 + 8 + 24 + 3);
    free(raw);
}

static void test_empty(void **state) {
    (void)state;
    const char *path = scratch_path("empty.safetensors");
    Safetensors file;
    Error error;
    assert_true(safetensors_write(path, NULL, 0, NULL, 0, &error));
    assert_true(safetensors_read(&file, path, &error));
    assert_int_equal(file.tensors, 0);
    assert_null(safetensors_find(&file, "x"));
    safetensors_free(&file);
}

static void test_copy(void **state) {
    (void)state;
    const char *path = scratch_path("copy.safetensors");
    Safetensors file;
    Error error;
    real out[6];
    char expected[1024];
    write_good(path);
    assert_true(safetensors_read(&file, path, &error));
    assert_true(safetensors_copy(out, &file, "f32", 2, (int64_t[]){2, 3}, &error));
    for (int i = 0; i < 6; i++) assert_true(out[i] == (real)floats[i]);
    assert_true(safetensors_copy(out, &file, "scalar", 0, NULL, &error));
    assert_true(out[0] == (real)0.1);
    assert_false(safetensors_copy(out, &file, "f33", 1, (int64_t[]){6}, &error));
    snprintf(expected, sizeof expected, "%s: has no tensor \"f33\"; does it belong to this configuration?", path);
    assert_string_equal(error.text, expected);
    assert_false(safetensors_copy(out, &file, "f32", 2, (int64_t[]){3, 2}, &error));
    snprintf(expected, sizeof expected,
             "%s: tensor \"f32\" has shape [2, 3], but this configuration needs [3, 2]; "
             "use the file's own configuration",
             path);
    assert_string_equal(error.text, expected);
    assert_false(safetensors_copy(out, &file, "i32", 1, (int64_t[]){2}, &error));
    assert_non_null(strstr(error.text, "tensor \"i32\" has dtype I32, but F32 or F64 is needed; convert it"));
    safetensors_free(&file);
}

/* A file from its header and a number of data bytes. */
static void compose(const char *path, const char *header, size_t data) {
    char file[4096] = {0};
    uint64_t length = strlen(header);
    memcpy(file, &length, 8);
    memcpy(file + 8, header, length);
    for (size_t i = 0; i < data; i++) file[8 + length + i] = (char)(i + 1);
    scratch_write(path, file, 8 + length + data);
}

static void test_foreign_headers(void **state) {
    (void)state;
    const char *path = scratch_path("foreign.safetensors");
#define T(type, shape, begin, end) "{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"
    static const struct {
        const char *header;
        size_t data;
        const char *fact; /* NULL: good */
    } cases[] = {
        {"{}", 0, NULL},
        {"{}   ", 0, NULL},
        {"{\"a\":" T("F32", "[1]", "0", "4") "}", 4, NULL}, /* a header of odd length: data must move */
        {"{\"a\":" T("F32", "[]", "0", "4") "}", 4, NULL},
        {"{\"b\":" T("F32", "[1]", "4", "8") ",\"a\":" T("F32", "[1]", "0", "4") "}", 8, NULL},
        {"{\"__metadata__\":{\"x\":\"y\"}}", 0, NULL},
        {"", 0, "its header is no JSON object"},
        {"[]", 0, "its header is no JSON object (but a list); is it a safetensors file, or damaged?"},
        {"{\"a\":1}", 0, "tensor \"a\" has dtype \"\"; convert it to F32, F64, I32, I64 or U8"},
        {"{} {}", 0, "its header is no JSON object"},
        {"{\"a\":{},\"a\":{}}", 0, "its header is no JSON object (duplicate object key"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ is no object; is the file damaged?"},
        {"{\"__metadata__\":{\"x\":1}}", 0, "metadata \"x\" is no text; is the file damaged?"},
        {"{\"a\":" T("BF16", "[1]", "0", "2") "}", 2,
         "tensor \"a\" has dtype \"BF16\"; convert it to F32, F64, I32, I64 or U8"},
        {"{\"a\":" T("F32", "3", "0", "4") "}", 4, "tensor \"a\" has no shape of at most 8 dimensions"},
        {"{\"a\":" T("F32", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, "no shape of at most 8 dimensions"},
        {"{\"a\":" T("F32", "[-1]", "0", "4") "}", 4, "tensor \"a\" has a shape that is no list of sizes"},
        {"{\"a\":" T("F32", "[1.0]", "0", "4") "}", 4, "tensor \"a\" has a shape that is no list of sizes"},
        {"{\"a\":" T("F32", "[4294967296,4294967296]", "0", "4") "}", 4, "a shape that is no list of sizes"},
        {"{\"a\":" T("F32", "[1]", "-4", "0") "}", 4, "tensor \"a\" has no data_offsets [begin, end]"},
        {"{\"a\":" T("F32", "[1]", "4", "0") "}", 4, "tensor \"a\" has no data_offsets [begin, end]"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "tensor \"a\" has no data_offsets [begin, end]"},
        {"{\"a\":" T("F32", "[2]", "0", "8") "}", 4,
         "tensor \"a\" ends at byte 8 of the data, which have only 4; is the file cut off?"},
        {"{\"a\":" T("F32", "[2]", "0", "4") "}", 4, "tensor \"a\" has 4 bytes where its shape needs 8"},
        {"{\"a\":" T("F32", "[1]", "0", "4") ",\"b\":" T("F32", "[1]", "0", "4") "}", 4,
         "tensor \"b\" overlaps the one before it"},
        {"{\"a\":" T("F32", "[1]", "0", "4") ",\"b\":" T("F32", "[1]", "8", "12") "}", 12,
         "tensor \"b\" leaves a gap to the one before it"},
        {"{\"a\":" T("F32", "[1]", "0", "4") "}", 5, "1 bytes after the last tensor belong to none"},
        {"{\"a\":" T("U8", "[1]", "0", "1") ",\"b\":" T("F32", "[1]", "1", "5") "}", 5,
         "tensor \"b\" is not aligned to its type"},
        {"{\"__metadata__\":{\"tandem.checksum\":\"0123456789abcdef\"}}", 0, "the file is damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Safetensors file;
        Error error;
        compose(path, cases[i].header, cases[i].data);
        bool ok = safetensors_read(&file, path, &error);
        if (ok != (cases[i].fact == NULL)) fail_msg("case %zu: %s", i, ok ? "accepted" : error.text);
        const SafetensorsTensor *a = ok ? safetensors_find(&file, "a") : NULL;
        if (a != NULL) assert_memory_equal(a->data, "\1\2\3\4", 4);
        if (ok) safetensors_free(&file);
        if (!ok && strstr(error.text, cases[i].fact) == NULL) fail_msg("case %zu: %s", i, error.text);
        if (!ok) assert_memory_equal(error.text, path, strlen(path));
    }
}

static void test_foreign_files(void **state) {
    (void)state;
    const char *path = scratch_path("f.safetensors");
    Safetensors file;
    Error error;
    assert_false(safetensors_read(&file, path, &error));
    assert_non_null(strstr(error.text, "f.safetensors: there is no such file"));
    assert_false(safetensors_read(&file, scratch_path(""), &error));
    assert_non_null(strstr(error.text, ": is a directory; name a file"));
    assert_false(safetensors_read(&file, "/dev/zero", &error));
    assert_non_null(strstr(error.text, ": is no regular file"));
    scratch_write(path, "", 0);
    assert_false(safetensors_read(&file, path, &error));
    assert_non_null(strstr(error.text, "has 0 bytes, too few for its header; is it a safetensors file, or cut off?"));
    scratch_write(path, "\0\0\0\2\0\0\0\0{}", 10);
    assert_false(safetensors_read(&file, path, &error));
    assert_non_null(strstr(error.text, "its header of 33554432 bytes is more than the 16777216 allowed"));
    scratch_write(path, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10);
    assert_false(safetensors_read(&file, path, &error));
    assert_non_null(strstr(error.text, "too few for its header"));
}

/* Every change of a single bit is noticed, in data and header alike, unless it leaves the meaning as it was;
 * so is every shorter file. */
static void test_damage(void **state) {
    (void)state;
    const char *good = scratch_path("good.safetensors"), *bad = scratch_path("bad.safetensors");
    size_t size;
    write_good(good);
    char *bytes = scratch_read(good, &size);
    int accepted = 0;
    for (size_t i = 0; i < size; i++) {
        Safetensors file;
        Error error;
        bytes[i] ^= (char)(1 << i % 7);
        scratch_write(bad, bytes, size);
        if (safetensors_read(&file, bad, &error)) {
            accepted++;
            assert_true(i < size - 59); /* never in the data */
            assert_int_equal(file.tensors, TENSORS);
            safetensors_free(&file);
        }
        bytes[i] ^= (char)(1 << i % 7);
        scratch_write(bad, bytes, i);
        assert_false(safetensors_read(&file, bad, &error));
    }
    char *shape = memmem(bytes, size, "[2,3]", 5);
    memcpy(shape, "[3,2]", 5);
    scratch_write(bad, bytes, size);
    Safetensors file;
    Error error;
    assert_false(safetensors_read(&file, bad, &error));
    assert_non_null(strstr(error.text, "the file is damaged"));
    assert_true(accepted <= 16); /* the name of the checksum, after which there is none to compare with */
    free(bytes);
}

static void test_any_bytes(void **state) {
    (void)state;
    const char *good = scratch_path("good.safetensors"), *bad = scratch_path("bad.safetensors");
    size_t size;
    write_good(good);
    char *bytes = scratch_read(good, &size), *changed = malloc(size);
    Rng rng = {5};
    for (int round = 0; round < 2000; round++) {
        Safetensors file;
        Error error;
        memcpy(changed, bytes, size);
        int changes = 1 + (int)rng_below(&rng, 6);
        for (int i = 0; i < changes; i++) {
            static const char special[] = "{}[]\",:0123456789-e\\ ";
            changed[rng_below(&rng, size)] =
                rng_below(&rng, 2) ? special[rng_below(&rng, sizeof special - 1)] : (char)rng_next(&rng);
        }
        /* In half of the rounds without a checksum, so that what is behind that check is reached too. */
        char *key = memmem(changed, size, "tandem.checksum", 15);
        if (key != NULL && round % 2) key[0] = 'T';
        scratch_write(bad, changed, rng_below(&rng, 4) ? size : rng_below(&rng, size));
        if (safetensors_read(&file, bad, &error)) safetensors_free(&file);
    }
    free(changed);
    free(bytes);
}

/* The old file is the same and no temporary is left. */
static void check_untouched(const char *path, const char *bytes, size_t size) {
    size_t now;
    char temporary[600];
    char *content = scratch_read(path, &now);
    assert_int_equal(now, size);
    assert_memory_equal(content, bytes, size);
    free(content);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    assert_int_equal(access(temporary, F_OK), -1);
}

/* A limit on file sizes makes the write fail at each possible place, as a full disk would. */
static void test_failing_writes(void **state) {
    (void)state;
    const char *path = scratch_path("old.safetensors");
    size_t size;
    Error error;
    write_good(path);
    char *bytes = scratch_read(path, &size);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t most = 0; most < size; most += 7) {
        limit = (struct rlimit){most, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        bool ok = safetensors_write(path, tensors, TENSORS, pairs, 2, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_false(ok);
        assert_non_null(strstr(error.text, "old.safetensors: could not be written: File too large; raise the limit"));
        check_untouched(path, bytes, size);
    }
    char temporary[600];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    assert_int_equal(symlink("/dev/full", temporary), 0);
    assert_false(safetensors_write(path, tensors, TENSORS, pairs, 2, &error));
    assert_non_null(strstr(error.text, "could not be written: No space left on device; free some space"));
    check_untouched(path, bytes, size);
    free(bytes);
    char below[600];
    snprintf(below, sizeof below, "%s/x", path);
    assert_false(safetensors_write(below, tensors, TENSORS, pairs, 2, &error));
    assert_non_null(strstr(error.text, "old.safetensors/x.tmp: could not be created: Not a directory"));
    const char *fifo = scratch_path("fifo"); /* no rename may put a file in its place */
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_false(safetensors_write(fifo, tensors, TENSORS, pairs, 2, &error));
    assert_non_null(strstr(error.text, "fifo: is no regular file"));
    assert_false(safetensors_write(scratch_path("."), tensors, TENSORS, pairs, 2, &error));
    assert_non_null(strstr(error.text, "is a directory; name a file"));
    assert_false(file_append_line("/dev/full", "line", &error));
    assert_string_equal(error.text, "/dev/full: could not be written: No space left on device; free some space");
}

static void test_not_text(void **state) {
    (void)state;
    const char *path = scratch_path("text.safetensors");
    Error error;
    const SafetensorsPair pair = {"config", "\xFF"};
    assert_false(safetensors_write(path, NULL, 0, &pair, 1, &error));
    assert_non_null(strstr(error.text, "the header entry \"config\" is not UTF-8 text; rename what it names"));
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_empty),          cmocka_unit_test(test_copy),
        cmocka_unit_test(test_foreign_headers), cmocka_unit_test(test_foreign_files),  cmocka_unit_test(test_damage),
        cmocka_unit_test(test_any_bytes),       cmocka_unit_test(test_failing_writes), cmocka_unit_test(test_not_text),
    };
    return cmocka_run_group_tests(tests, create, destroy) != 0;
}
