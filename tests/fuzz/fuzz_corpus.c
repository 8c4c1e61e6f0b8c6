/* The corpus reader: any bytes, plain or as a .gz. The lines of a plain file are what lies between its line feeds; the reader
 * of open input agrees. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/line_reader.h"
#include "base/memory.h"
#include "data/text_file.h"
#include "tests/fuzz/fuzz.h"

/* Line `wanted` of plain bytes, found the slow way. */
static Line naive_line(const char *bytes, size_t size, size_t wanted) {
    size_t start = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0, end;
    for (;; start = end + 1) {
        for (end = start; end < size && bytes[end] != '\n';) end++;
        if (wanted-- == 0) break;
    }
    if (end > start && bytes[end - 1] == '\r') end--;
    return (Line){bytes + start, end - start};
}

static void check_same(Line a, Line b) { FUZZ_CHECK(a.length == b.length && memcmp(a.text, b.text, a.length) == 0); }

static void check_reader(const char *path, const Lines *lines) {
    LineReader reader;
    Line line;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    FUZZ_CHECK(descriptor >= 0);
    line_reader_init(&reader, descriptor);
    for (size_t i = 0; i < lines->count; i++) {
        FUZZ_CHECK(line_reader_next(&reader, &line));
        check_same(line, lines->line[i]);
    }
    FUZZ_CHECK(!line_reader_next(&reader, &line));
    line_reader_free(&reader);
    close(descriptor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Lines lines;
    Error error = {""};
    const char *bytes = (const char *)data, *path = fuzz_file(data, size);
    bool compressed = size >= 2 && data[0] == 0x1F && data[1] == 0x8B;
    bool only_mark = size == 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0;
    if (!text_file_read(&lines, path, &error)) {
        FUZZ_CHECK(strncmp(error.text, path, strlen(path)) == 0 && (size == 0 || only_mark || compressed));
        return 0;
    }
    for (size_t i = 0; i < lines.count; i++) {
        FUZZ_CHECK(memchr(lines.line[i].text, '\n', lines.line[i].length) == NULL);
        if (!compressed && i < 50) check_same(lines.line[i], naive_line(bytes, size, i));
        line_is_blank(lines.line[i]);
    }
    if (!compressed) check_reader(path, &lines);
    lines_free(&lines);
    return 0;
}
