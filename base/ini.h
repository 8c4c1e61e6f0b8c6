/* A small INI reader: text to entries with their line numbers, and a list of all mistakes.
 *
 *     # a comment; so is a line that starts with ;
 *     [section]
 *     key = value        # a comment after a value needs a blank before its # or ;
 *     path = "a # b"     in double quotes everything is the value; \" and \\ stand for " and \
 *
 * Blanks around names and values are dropped, indentation means nothing, a value may be empty. Names are made
 * of letters, digits, _ . and -. Lines end with \n or \r\n; a byte order mark at the start is dropped.
 * Control bytes other than tab are mistakes, other bytes above 0x7F are not: a path may hold any. Lines have
 * no length limit; the whole text has INI_MOST_BYTES. A section or a key that comes twice is a mistake. */
#ifndef BASE_INI_H
#define BASE_INI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { INI_MOST_BYTES = 1 << 20 };

typedef struct IniSection {
    char *name;
    int line; /* of its [name], from 1 */
} IniSection;

typedef struct IniEntry {
    const char *section; /* shared with the section's own name */
    char *key, *value;   /* value without quotes; "" where nothing follows the = */
    int line;            /* from 1 */
} IniEntry;

typedef struct IniMistake {
    int line, order; /* mistakes are reported by line, then in the order in which they were added */
    char *text;
} IniMistake;

typedef struct Ini {
    char *name; /* of the file, for the messages */
    IniSection *section;
    IniEntry *entry;
    IniMistake *mistake;
    int sections, entries, mistakes;
} Ini;

/* Reads bytes[0..size). `ini` holds every line that makes sense, and a mistake for each other one, so that
 * the caller can add what it finds wrong with the entries and report all together. */
void ini_parse(Ini *ini, const char *name, const char *bytes, size_t size);

/* Adds a mistake; the text begins with its place. */
void ini_mistake(Ini *ini, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* True without mistakes. Otherwise fills `error` with them in order of lines, one a line, as many as fit and
 * how many more there are. */
bool ini_report(Ini *ini, Error *error);

void ini_free(Ini *ini);

/* `text` for a message: control and non-ASCII bytes as \xNN where they are no valid UTF-8, at most about 60
 * bytes, then "...". The result is `out`. */
const char *ini_quote(char out[80], const char *text, size_t length);

/* `value` as it has to stand in a file to be read back the same: in quotes where it needs them.
 * From memory_alloc. Values with control bytes other than tab cannot be written: a caller bug. */
char *ini_value_text(const char *value);

#endif
