/* Text files, plain or gzip-compressed, read whole as lines. */
#ifndef DATA_TEXT_FILE_H
#define DATA_TEXT_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/lines.h"

/* Bytes of the longest line that is read: a thousand times a long sentence. It bounds the memory that a file without
 * line ends can take. */
enum { TEXT_LONGEST_LINE = 1 << 20 };

/* Fails, naming the file, if it has no line, if one is longer than TEXT_LONGEST_LINE, or as data/byte_stream.h says. */
bool text_file_read(Lines *lines, const char *path, Error *error);

/* The same for text that nobody will read again: from a pipe too, as in `... | evaluate /dev/stdin ref`, `<(zcat ...)`. */
bool text_read_once(Lines *lines, const char *path, Error *error);

#endif
