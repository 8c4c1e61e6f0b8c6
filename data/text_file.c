#include "data/text_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/memory.h"

enum { FIRST_BYTES = 1 << 20, READ_BYTES = 1 << 30 };

static bool can_open(const char *path, Error *error) {
    struct stat info;
    if (stat(path, &info) != 0)
        return error_set(error, "%s: %s; check the path, which is relative to where the command runs", path,
                         strerror(errno));
    if (S_ISDIR(info.st_mode)) return error_set(error, "%s: is a directory; name a text file", path);
    return true;
}

bool text_file_read(Lines *lines, const char *path, Error *error) {
    if (!can_open(path, error)) return false;
    gzFile file = gzopen(path, "rb"); /* reads plain files as they are */
    if (file == NULL) return error_set(error, "%s: %s; make the file readable", path, strerror(errno));
    size_t size = 0, capacity = FIRST_BYTES;
    char *bytes = memory_alloc(capacity, 1, "text of a corpus");
    for (;;) {
        if (size == capacity) {
            bytes = memory_grow(bytes, size, 2 * capacity, 1, "text of a corpus");
            capacity *= 2;
        }
        size_t room = capacity - size < READ_BYTES ? capacity - size : READ_BYTES;
        int got = gzread(file, bytes + size, (unsigned)room);
        if (got <= 0) break;
        size += (size_t)got;
    }
    int status;
    const char *message = gzerror(file, &status);
    bool good = status == Z_OK || status == Z_STREAM_END;
    if (!good)
        error_set(error, "%s: cannot be read (%s); check that it is whole", path,
                  status == Z_ERRNO ? strerror(errno) : message);
    gzclose(file);
    if (good && size == 0) good = error_set(error, "%s: is empty; a corpus needs at least one line", path);
    if (good)
        lines_split(lines, bytes, size);
    else
        memory_free(bytes);
    return good;
}
