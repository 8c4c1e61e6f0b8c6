/* Text files: line ends, compression, damage, pipes, what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/text_file.h"
#include "tests/support/scratch.h"

static void write_text(const char *name, const char *text) { scratch_write(scratch_path(name), text, strlen(text)); }

/* bytes[0..size) compressed as one gzip part, whose header holds a name of `padding` letters. The part's size. */
static size_t compress_part(unsigned char *out, size_t room, const void *bytes, size_t size, size_t padding,
                            int level) {
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)size};
    static unsigned char name[1000];
    gz_header header = {.name = name};
    memset(name, 'n', padding);
    name[padding] = '\0';
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    deflateSetHeader(&z, &header);
    z.next_out = out;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = z.total_out;
    deflateEnd(&z);
    return made;
}

static void expect_failure(const char *name, const char *part) {
    Lines lines;
    Error error = {""};
    if (text_file_read(&lines, scratch_path(name), &error)) fail_msg("%s was read", name);
    if (strstr(error.text, part) == NULL || strstr(error.text, name) == NULL) fail_msg("%s", error.text);
    assert_null(strchr(error.text, '\n'));
}

/* Oracle: the lines one byte at a time. Returns how many differ from what was read. */
static size_t differing_lines(const Lines *lines, const char *bytes, size_t size) {
    size_t at = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0, count = 0, differing = 0;
    while (at < size) {
        size_t length = 0, end = at;
        while (end < size && bytes[end] != '\n') end++;
        length = end - at;
        if (length > 0 && bytes[end - 1] == '\r') length--;
        if (count >= lines->count || lines->line[count].length != length ||
            memcmp(lines->line[count].text, bytes + at, length) != 0)
            differing++;
        count++;
        at = end + 1;
    }
    return differing + (count != lines->count);
}

/* Random texts of the bytes that other tools stumble over, plain and compressed in one to three parts. */
static void test_random_texts(void **state) {
    (void)state;
    static const char *const unit[] = {"\n",       "\r",           "\r\n", "\t", "\0",  "\v", "\f",   "\xE2\x80\xA8",
                                       "\xC2\x85", "\xEF\xBB\xBF", "\xFF", "a",  "b c", " ",  "\x1A", "\n\n"};
    Rng rng = {7};
    scratch_create();
    for (int round = 0; round < 400; round++) {
        char text[600];
        unsigned char packed[4000];
        size_t size = 0, made = 0, units = 1 + rng_below(&rng, 60);
        for (size_t i = 0; i < units; i++) {
            const char *u = unit[rng_below(&rng, sizeof unit / sizeof unit[0])];
            size_t n = u[0] == '\0' ? 1 : strlen(u);
            memcpy(text + size, u, n);
            size += n;
        }
        size_t parts = 1 + rng_below(&rng, 3);
        for (size_t i = 0; i < parts; i++) {
            size_t from = size * i / parts, to = size * (i + 1) / parts;
            made += compress_part(packed + made, sizeof packed - made, text + from, to - from, rng_below(&rng, 5), 6);
        }
        scratch_write(scratch_path("plain"), text, size);
        scratch_write(scratch_path("packed"), packed, made);
        static const char *const name[2] = {"plain", "packed"};
        bool empty = size == 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
        for (int i = 0; i < 2 && !empty; i++) {
            Lines lines;
            Error error = {""};
            if (!text_file_read(&lines, scratch_path(name[i]), &error)) fail_msg("%s", error.text);
            assert_int_equal(differing_lines(&lines, text, size), 0);
            lines_free(&lines);
        }
    }
    scratch_remove();
}

/* Parts of a .gz that end around the end of what is read at once (65,536 bytes). */
static void test_compressed_parts(void **state) {
    (void)state;
    enum { SIZE = 65000, ROOM = 80000 };
    char *text = malloc(SIZE);
    unsigned char *packed = malloc(ROOM);
    for (int i = 0; i < SIZE; i++) text[i] = i % 100 == 99 ? '\n' : (char)('a' + i % 26);
    scratch_create();
    size_t stored = compress_part(packed, ROOM, text, SIZE, 0, 0);
    for (size_t total = 65536 - 12; total <= 65536 + 12; total++) {
        size_t made = compress_part(packed, ROOM, text, SIZE, total - stored, 0);
        assert_int_equal(made, total);
        made += compress_part(packed + made, ROOM - made, "last", 4, 0, 6);
        scratch_write(scratch_path("a.gz"), packed, made);
        Lines lines;
        Error error = {""};
        if (!text_file_read(&lines, scratch_path("a.gz"), &error)) fail_msg("%zu: %s", total, error.text);
        assert_int_equal(lines.count, SIZE / 100 + 1);
        assert_memory_equal(lines.line[SIZE / 100].text, "last", 4);
        lines_free(&lines);
        for (size_t more = 1; more < 20; more += 6) { /* with something else behind them */
            memset(packed + made, more == 7 ? 0 : 'x', more);
            scratch_write(scratch_path("b.gz"), packed, made + more);
            expect_failure("b.gz", "something else follows the compressed text");
        }
    }
    free(text);
    free(packed);
    scratch_remove();
}

/* A .gz cut off at any length, or with any byte changed, is an error, or the same text where the byte does not matter. */
static void test_damaged_gzip(void **state) {
    (void)state;
    unsigned char packed[300];
    const char text[] = "one line\nanother one\n\na fourth";
    size_t made = compress_part(packed, sizeof packed, text, sizeof text - 1, 3, 6), ignored = 0;
    scratch_create();
    for (size_t length = 0; length < made; length++) {
        scratch_write(scratch_path("cut.gz"), packed, length);
        expect_failure("cut.gz", length == 0 ? "is empty" : length == 1 ? "is no gzip file" : "cut off");
    }
    for (size_t at = 0; at < made; at++)
        for (int bit = 0; bit < 8; bit++) {
            Lines lines;
            Error error = {""};
            packed[at] ^= (unsigned char)(1 << bit);
            scratch_write(scratch_path("bent.gz"), packed, made);
            packed[at] ^= (unsigned char)(1 << bit);
            if (!text_file_read(&lines, scratch_path("bent.gz"), &error)) continue;
            assert_int_equal(differing_lines(&lines, text, sizeof text - 1), 0);
            lines_free(&lines);
            ignored++;
        }
    assert_in_range(ignored, 1, 8 * 11); /* time, system and name in the header */
    scratch_remove();
}

/* A pipe gives its bytes one by one here, so that the two that tell the format come apart. */
static void test_pipes(void **state) {
    (void)state;
    scratch_create();
    const char *path = scratch_path("pipe");
    unsigned char bytes[200];
    size_t size = compress_part(bytes, sizeof bytes, "one\ntwo\n", 8, 0, 6);
    assert_int_equal(mkfifo(path, 0666), 0);
    pid_t writer = fork();
    if (writer == 0) {
        int end = open(path, O_WRONLY);
        for (size_t i = 0; i < size; i++)
            if (write(end, bytes + i, 1) == 1) usleep(500);
        _exit(0);
    }
    Lines lines;
    Error error;
    if (!text_read_once(&lines, path, &error)) fail_msg("%s", error.text);
    assert_int_equal(lines.count, 2);
    assert_memory_equal(lines.line[1].text, "two", 3);
    lines_free(&lines);
    waitpid(writer, NULL, 0);
    assert_false(text_read_once(&lines, scratch_path("."), &error));
    assert_non_null(strstr(error.text, "is a directory"));
    assert_false(text_read_once(&lines, "/dev/null", &error));
    assert_non_null(strstr(error.text, "is empty"));
}

static void test_what_is_no_text_file(void **state) {
    (void)state;
    scratch_create();
    assert_int_equal(mkfifo(scratch_path("fifo"), 0666), 0);
    assert_int_equal(mkdir(scratch_path("folder"), 0777), 0);
    assert_int_equal(symlink("loop", scratch_path("loop")), 0);
    assert_int_equal(symlink("/dev/zero", scratch_path("zero")), 0);
    assert_int_equal(symlink("/proc/self/mem", scratch_path("mem")), 0);
    write_text("none", "");
    write_text("mark", "\xEF\xBB\xBF");
    write_text("text.gz", "this is plain text\n");
    expect_failure("fifo", "is no regular file");
    expect_failure("folder", "is a directory");
    expect_failure("loop", "symbolic links");
    expect_failure("zero", "is no regular file");
    expect_failure("mem", "cannot be read (Input/output error)");
    expect_failure("none", "is empty");
    expect_failure("mark", "is empty");
    expect_failure("text.gz", "is called .gz but is no gzip file");
    expect_failure("none/below", "Not a directory");
    if (getuid() != 0) { /* root may read everything */
        write_text("secret", "a\n");
        chmod(scratch_path("secret"), 0);
        expect_failure("secret", "Permission denied");
    }
    scratch_remove();
}

/* The longest line that is read, one byte more, and 200 MB without an end, plain and compressed: in bounded memory. */
static void test_long_lines(void **state) {
    (void)state;
    scratch_create();
    char *text = malloc(TEXT_LONGEST_LINE + 4);
    memset(text, 'x', TEXT_LONGEST_LINE + 4);
    memcpy(text, "a\n", 2);
    text[TEXT_LONGEST_LINE + 2] = '\n';
    scratch_write(scratch_path("fits"), text, TEXT_LONGEST_LINE + 4);
    Lines lines;
    Error error = {""};
    if (!text_file_read(&lines, scratch_path("fits"), &error)) fail_msg("%s", error.text);
    assert_int_equal(lines.count, 3);
    assert_int_equal(lines.line[1].length, TEXT_LONGEST_LINE);
    lines_free(&lines);
    text[TEXT_LONGEST_LINE + 2] = 'x';
    text[TEXT_LONGEST_LINE + 3] = '\n';
    scratch_write(scratch_path("long"), text, TEXT_LONGEST_LINE + 4);
    expect_failure("long", "long:2: this line is longer than 1048576 bytes");

    double before = memory_peak_mb();
    unsigned char part[20000];
    size_t made = compress_part(part, sizeof part, text + 2, TEXT_LONGEST_LINE, 0, 6);
    free(text);
    FILE *file = fopen(scratch_path("bomb.gz"), "wb");
    for (int i = 0; i < 200; i++) assert_int_equal(fwrite(part, 1, made, file), made);
    fclose(file);
    scratch_write(scratch_path("hole"), "a\nb\n", 4);
    assert_int_equal(truncate(scratch_path("hole"), 200 * 1000 * 1000), 0);
    expect_failure("bomb.gz", "bomb.gz:1: this line is longer");
    expect_failure("hole", "hole:3: this line is longer");
    assert_true(memory_peak_mb() - before < 20);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_texts),         cmocka_unit_test(test_compressed_parts),
        cmocka_unit_test(test_damaged_gzip),         cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_what_is_no_text_file), cmocka_unit_test(test_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
