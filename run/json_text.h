/* Text and numbers of any kind as JSON. */
#ifndef RUN_JSON_TEXT_H
#define RUN_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* text[0..length) as a JSON string; each maximal invalid sequence becomes one U+FFFD. */
json_t *json_text(const char *text, size_t length);

/* null where the number is not finite. */
json_t *json_number(double value);

/* A key of an object. Text ends with a NUL; a number that is not finite becomes null. */
void json_set_text(json_t *object, const char *key, const char *value);
void json_set_integer(json_t *object, const char *key, int64_t value);
void json_set_real(json_t *object, const char *key, double value);
void json_set_bool(json_t *object, const char *key, bool value);

/* A JSON value in one line, from memory_alloc; numbers with nine digits, which tell any two floats apart. */
char *json_line(const json_t *value, size_t *length);

#endif
