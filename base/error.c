#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(Error *error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

bool error_add(Error *error, const char *format, ...) {
    size_t used = strlen(error->text);
    if (used > 0 && used + 1 < sizeof error->text) error->text[used++] = '\n';
    va_list args;
    va_start(args, format);
    vsnprintf(error->text + used, sizeof error->text - used, format, args);
    va_end(args);
    return false;
}
