/* The configuration as text: the template of --help-config, config.ini, one value, and what a resume changes. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/ini.h"
#include "base/memory.h"
#include "run/config.h"
#include "run/config_value.h"

static const void *value_of(const Config *config, const ConfigKey *key) { return (const char *)config + key->offset; }

/* Does key k begin a section? */
static bool begins_section(int k) { return k == 0 || strcmp(config_key(k)->section, config_key(k - 1)->section) != 0; }

void config_print_help(FILE *out) {
    fputs("# All keys with their defaults. This is itself a configuration, once what is required is filled in.\n"
          "# A comment starts with # or ; at the start of a line or after a blank. --set section.key=value\n"
          "# replaces a value of the file.\n",
          out);
    for (int k = 0; config_key(k) != NULL; k++) {
        const ConfigKey *key = config_key(k);
        char range[CONFIG_MOST_FACT];
        config_value_range(range, key);
        if (begins_section(k)) fprintf(out, "\n[%s]\n", key->section);
        fprintf(out, "# %s\n#     %s%s%s\n%s =%s%s\n", key->help, range, key->standard ? "" : "; required",
                key->resume == MAY_CHANGE ? "; may change on resume" : "", key->key,
                key->standard && key->standard[0] ? " " : "", key->standard ? key->standard : "");
    }
}

/* Adds to a text that grows. */
typedef struct Text {
    char *bytes;
    size_t used, size;
} Text;

static void add(Text *t, const char *part) {
    size_t length = strlen(part);
    if (t->used + length + 1 > t->size) {
        size_t size = 2 * (t->used + length + 1);
        t->bytes = memory_grow(t->bytes, t->used, size, 1, "configuration");
        t->size = size;
    }
    memcpy(t->bytes + t->used, part, length + 1);
    t->used += length;
}

char *config_text(const Config *config) {
    Text t = {0};
    add(&t, "# The resolved configuration of this run. ./train --help-config explains the keys.\n");
    for (int k = 0; config_key(k) != NULL; k++) {
        const ConfigKey *key = config_key(k);
        char *value = config_value_text(value_of(config, key), key), *safe = ini_value_text(value);
        if (begins_section(k)) {
            add(&t, "\n[");
            add(&t, key->section);
            add(&t, "]\n");
        }
        add(&t, key->key);
        add(&t, safe[0] ? " = " : " =");
        add(&t, safe);
        add(&t, "\n");
        memory_free(value);
        memory_free(safe);
    }
    return t.bytes;
}

bool config_write(const Config *config, const char *path, Error *error) {
    char *text = config_text(config);
    bool ok = file_write(path, text, strlen(text), error);
    memory_free(text);
    return ok;
}

char *config_get_text(const Config *config, const char *name) {
    for (int k = 0; config_key(k) != NULL; k++) {
        const ConfigKey *key = config_key(k);
        size_t length = strlen(key->section);
        if (strncmp(name, key->section, length) == 0 && name[length] == '.' && strcmp(name + length + 1, key->key) == 0)
            return config_value_text(value_of(config, key), key);
    }
    return NULL;
}

bool config_resume(ConfigChanges *changes, Config *asked, const Config *saved, const char *place, Error *error) {
    int keys = 0;
    bool ok = true;
    while (config_key(keys) != NULL) keys++;
    if (asked->train.lanes == 0) asked->train.lanes = saved->train.lanes;
    *changes = (ConfigChanges){.change = memory_alloc((size_t)keys, sizeof(ConfigChange), "configuration")};
    for (int k = 0; k < keys; k++) {
        const ConfigKey *key = config_key(k);
        ConfigChange c = {key->section, key->key, config_value_text(value_of(saved, key), key),
                          config_value_text(value_of(asked, key), key)};
        bool machine = strcmp(key->key, "threads") == 0 && asked->train.threads == 0;
        if (strcmp(c.saved, c.asked) != 0 && !machine && key->resume == MAY_CHANGE) {
            changes->change[changes->count++] = c;
            continue;
        }
        if (strcmp(c.saved, c.asked) != 0 && !machine) {
            if (ok) error_set(error, "%s", "");
            char before[80], now[80];
            ok = error_add(
                error,
                "%s: [%s] %s is \"%s\" in this run, but \"%s\" is asked for; keep it, or start over with --fresh",
                place, key->section, key->key, ini_quote(before, c.saved, strlen(c.saved)),
                ini_quote(now, c.asked, strlen(c.asked)));
        }
        memory_free(c.saved);
        memory_free(c.asked);
    }
    if (!ok) config_changes_free(changes);
    return ok;
}

void config_changes_free(ConfigChanges *changes) {
    for (int i = 0; i < changes->count; i++) {
        memory_free(changes->change[i].saved);
        memory_free(changes->change[i].asked);
    }
    memory_free(changes->change);
    *changes = (ConfigChanges){0};
}
