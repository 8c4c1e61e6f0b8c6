#include "run/config_value.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"
#include "base/memory.h"
#include "run/config.h"

static bool takes_auto(const ConfigKey *key) { return key->standard && strcmp(key->standard, "auto") == 0; }

/* The text of choice `index` and its length; NULL behind the last. */
static const char *choice(const ConfigKey *key, int index, size_t *length) {
    const char *p = key->choices;
    for (; index > 0; index--) {
        p = strchr(p, '|');
        if (p == NULL) return NULL;
        p++;
    }
    *length = strcspn(p, "|");
    return p;
}

/* "a, b or c" */
static void list_choices(char *out, size_t size, const ConfigKey *key) {
    size_t length, ignored, used = 0;
    const char *name;
    for (int i = 0; (name = choice(key, i, &length)) != NULL; i++) {
        const char *between = i == 0 ? "" : choice(key, i + 1, &ignored) ? ", " : " or ";
        int n = snprintf(out + used, size - used, "%s%.*s", between, (int)length, name);
        if (n < 0 || (size_t)n >= size - used) return;
        used += (size_t)n;
    }
}

void config_value_range(char out[CONFIG_MOST_FACT], const ConfigKey *key) {
    const size_t size = CONFIG_MOST_FACT;
    const char *or_auto = takes_auto(key) ? ", or auto" : "";
    switch (key->type) {
    case CONFIG_INT:
        if (key->least == key->most)
            snprintf(out, size, "%.0f%s", key->least, or_auto);
        else
            snprintf(out, size, "a whole number from %.0f to %.0f%s", key->least, key->most, or_auto);
        break;
    case CONFIG_SEED:
        snprintf(out, size, "a whole number from 0 to %llu", (unsigned long long)UINT64_MAX);
        break;
    case CONFIG_REAL:
        snprintf(out, size, "a number from %g to %g%s", key->least, key->most, or_auto);
        break;
    case CONFIG_RATE:
        snprintf(out, size, "a number from 0 to below 1%s", or_auto);
        break;
    case CONFIG_BOOL:
        snprintf(out, size, "yes or no");
        break;
    case CONFIG_CHOICE:
        list_choices(out, size, key);
        break;
    case CONFIG_INTERVAL:
        snprintf(out, size, "a number of updates or epochs, as in 500 updates or 1 epoch");
        break;
    case CONFIG_TEXT:
        snprintf(out, size,
                 key->most == CONFIG_MANY_PATHS ? "paths, as in a.en, b.en; \\, is a comma in a path" : "a path");
        break;
    }
}

/* The whole text as a decimal integer that fits. */
static bool read_integer(long long *out, const char *text) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

static bool parse_int(int *value, const ConfigKey *key, const char *text) {
    long long n;
    if (takes_auto(key) && (strcmp(text, "auto") == 0 || strcmp(text, "0") == 0)) {
        *value = 0;
        return true;
    }
    if (!read_integer(&n, text) || (double)n < key->least || (double)n > key->most) return false;
    *value = (int)n;
    return true;
}

static bool parse_seed(uint64_t *value, const char *text) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) return false;
    *value = n;
    return true;
}

static bool parse_real(double *value, const ConfigKey *key, const char *text) {
    if (takes_auto(key) && strcmp(text, "auto") == 0) {
        *value = CONFIG_AUTO_RATE;
        return true;
    }
    /* Only decimal digits, sign, point and exponent: strtod knows "nan" and hexadecimal too. What overflows is
     * infinite and outside of any range. */
    if (text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') return false;
    char *end;
    double x = strtod(text, &end);
    if (*end != '\0') return false;
    bool inside = key->type == CONFIG_RATE ? x >= 0 && x < 1 : x >= key->least && x <= key->most;
    if (inside) *value = x;
    return inside;
}

static bool parse_bool(bool *value, const char *text) {
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (int i = 0; i < 8; i++) {
        if (strcmp(text, words[i]) != 0) continue;
        *value = i % 2 != 0;
        return true;
    }
    return false;
}

static bool parse_choice(int *value, const ConfigKey *key, const char *text) {
    size_t length;
    const char *name;
    for (int i = 0; (name = choice(key, i, &length)) != NULL; i++) {
        if (strlen(text) != length || memcmp(text, name, length) != 0) continue;
        *value = i;
        return true;
    }
    return false;
}

static bool parse_interval(ConfigInterval *value, const char *text) {
    static const char *const words[] = {"update", "updates", "epoch", "epochs"};
    char *unit;
    errno = 0;
    long n = strtol(text, &unit, 10);
    if (unit == text || errno != 0 || n < 1 || n > 1000000000) return false;
    unit += strspn(unit, " \t");
    int found = *unit == '\0' ? 1 : -1;
    for (int i = 0; i < 4; i++)
        if (strcmp(unit, words[i]) == 0) found = i;
    if (found < 0) return false;
    *value = (ConfigInterval){(int)n, found < 2 ? CONFIG_UPDATES : CONFIG_EPOCHS};
    return true;
}

static bool parse_text(char **value, const char *text) {
    for (const char *p = text; *p != '\0'; p++)
        if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7F) return false;
    memory_free(*value);
    *value = memory_text(text, strlen(text));
    return true;
}

bool config_value_parse(void *value, const ConfigKey *key, const char *text, char fact[CONFIG_MOST_FACT]) {
    bool ok = false;
    switch (key->type) {
    case CONFIG_INT:
        ok = parse_int(value, key, text);
        break;
    case CONFIG_SEED:
        ok = parse_seed(value, text);
        break;
    case CONFIG_REAL:
    case CONFIG_RATE:
        ok = parse_real(value, key, text);
        break;
    case CONFIG_BOOL:
        ok = parse_bool(value, text);
        break;
    case CONFIG_CHOICE:
        ok = parse_choice(value, key, text);
        break;
    case CONFIG_INTERVAL:
        ok = parse_interval(value, text);
        break;
    case CONFIG_TEXT:
        ok = parse_text(value, text);
        break;
    }
    if (ok) return true;
    char range[CONFIG_MOST_FACT], quoted[80];
    config_value_range(range, key);
    ini_quote(quoted, text, strlen(text));
    snprintf(fact, CONFIG_MOST_FACT, "[%s] %s cannot be \"%s\"; give %.300s", key->section, key->key, quoted, range);
    return false;
}

/* The shortest decimal number that reads back as x. */
static void print_real(char *out, size_t size, double x) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, x);
        if (strtod(out, NULL) == x) return;
    }
}

char *config_value_text(const void *value, const ConfigKey *key) {
    char out[64] = "auto";
    size_t length = 0;
    switch (key->type) {
    case CONFIG_INT: {
        int n = *(const int *)value;
        if (n != 0 || !takes_auto(key)) snprintf(out, sizeof out, "%d", n);
        break;
    }
    case CONFIG_SEED:
        snprintf(out, sizeof out, "%llu", (unsigned long long)*(const uint64_t *)value);
        break;
    case CONFIG_REAL:
    case CONFIG_RATE: {
        double x = *(const double *)value;
        if (x != CONFIG_AUTO_RATE || !takes_auto(key)) print_real(out, sizeof out, x);
        break;
    }
    case CONFIG_BOOL:
        strcpy(out, *(const bool *)value ? "yes" : "no");
        break;
    case CONFIG_CHOICE: {
        const char *name = choice(key, *(const int *)value, &length);
        return memory_text(name, length);
    }
    case CONFIG_INTERVAL: {
        const ConfigInterval *i = value;
        snprintf(out, sizeof out, "%d %s%s", i->count, i->unit == CONFIG_UPDATES ? "update" : "epoch",
                 i->count == 1 ? "" : "s");
        break;
    }
    case CONFIG_TEXT:
        return memory_text(*(char *const *)value, strlen(*(char *const *)value));
    }
    return memory_text(out, strlen(out));
}
