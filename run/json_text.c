#include "run/json_text.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "tokenizer/utf8.h"

json_t *json_text(const char *text, size_t length) {
    char *valid = memory_alloc(3 * length + 1, 1, "text for JSON"); /* a byte becomes three at most */
    size_t used = 0;
    int32_t code;
    for (size_t i = 0, n; i < length; i += n) {
        n = utf8_next(text + i, length - i, &code);
        used += utf8_put(valid + used, code < 0 ? CODE_REPLACEMENT : code);
    }
    json_t *string = json_stringn(valid, used);
    memory_free(valid);
    return string;
}

void json_set_text(json_t *object, const char *key, const char *value) {
    json_object_set_new(object, key, json_text(value, strlen(value)));
}

void json_set_integer(json_t *object, const char *key, int64_t value) {
    json_object_set_new(object, key, json_integer(value));
}

json_t *json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

void json_set_real(json_t *object, const char *key, double value) {
    json_object_set_new(object, key, json_number(value));
}

void json_set_bool(json_t *object, const char *key, bool value) {
    json_object_set_new(object, key, json_boolean(value));
}

char *json_line(const json_t *value, size_t *length) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY;
    *length = json_dumpb(value, NULL, 0, flags);
    char *text = memory_alloc(*length + 1, 1, "a line of JSON");
    json_dumpb(value, text, *length, flags);
    return text;
}
