/* Text of any bytes as JSON. */
#ifndef TRAINING_JSON_TEXT_H
#define TRAINING_JSON_TEXT_H

#include <jansson.h>

/* text[0..length) as a JSON string; each maximal invalid sequence becomes one U+FFFD. */
json_t *json_text(const char *text, size_t length);

/* A JSON value in one line, from memory_alloc; numbers with nine digits, which tell any two floats apart. */
char *json_line(const json_t *value, size_t *length);

#endif
