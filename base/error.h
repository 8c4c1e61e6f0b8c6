/* Problems of users and files. A function that can meet one returns bool and fills an Error with
 * "place: fact; remedy". Only the mains print it and exit. Caller bugs are asserted instead. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

typedef struct Error {
    char text[4096]; /* one line, or several where mistakes are reported together; no final newline */
} Error;

/* Both return false, so that a caller can write `return error_set(error, ...)`. */
bool error_set(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends one more line instead of replacing the text. */
bool error_add(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
