/* Text files, plain or gzip-compressed, read whole as lines. */
#ifndef DATA_TEXT_FILE_H
#define DATA_TEXT_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/lines.h"

/* Fails, naming the file, if it is missing, a directory, unreadable, empty, or a damaged .gz. */
bool text_file_read(Lines *lines, const char *path, Error *error);

#endif
