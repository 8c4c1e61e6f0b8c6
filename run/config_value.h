/* One key of the configuration: what it may hold, and its value as text and in memory.
 * For run/config*.c only. */
#ifndef RUN_CONFIG_VALUE_H
#define RUN_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ConfigType {
    CONFIG_INT,      /* int, from least to most                                                      */
    CONFIG_SEED,     /* uint64_t                                                                     */
    CONFIG_REAL,     /* double, from least to most                                                   */
    CONFIG_RATE,     /* double, at least 0 and below 1                                               */
    CONFIG_BOOL,     /* bool: yes or no                                                              */
    CONFIG_CHOICE,   /* an enum: the place of the name in `choices`, "first|second"                  */
    CONFIG_INTERVAL, /* ConfigInterval                                                              */
    CONFIG_TEXT      /* char *, from memory_alloc                                                    */
} ConfigType;

/* May another value be given when a run is resumed? */
typedef enum ConfigResume { FIXED, MAY_CHANGE } ConfigResume;

typedef struct ConfigKey {
    const char *section, *key;
    ConfigType type;
    size_t offset;        /* of the value in Config */
    const char *standard; /* the default, as text; NULL: the key is required. A key that is "auto" by default
                             takes auto: 0 as an int, CONFIG_AUTO_RATE as a rate */
    double least, most;
    const char *choices;
    ConfigResume resume;
    const char *help;
} ConfigKey;

#define CONFIG_AUTO_RATE (-1.0)

enum { CONFIG_MANY_PATHS = 2 }; /* as `most` of a CONFIG_TEXT: a list of paths (base/path_list.h) */

/* The table (run/config.c): key number k from 0, NULL behind the last. */
const ConfigKey *config_key(int k);

enum { CONFIG_MOST_FACT = 512 }; /* bytes of a message */

/* *value = text; frees a text that was there. False, and `fact` is "fact; remedy", if the text is not one
 * that the key may hold; the value is then as before. */
bool config_value_parse(void *value, const ConfigKey *key, const char *text, char fact[CONFIG_MOST_FACT]);

/* As config_value_parse reads it, from memory_alloc. */
char *config_value_text(const void *value, const ConfigKey *key);

/* What the key may hold, in words: "a whole number from 1 to 65536, or auto". */
void config_value_range(char out[CONFIG_MOST_FACT], const ConfigKey *key);

#endif
