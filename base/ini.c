#include "base/ini.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A stretch of the text. */
typedef struct Span {
    const char *text;
    size_t length;
} Span;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool opens_comment(char c) { return c == '#' || c == ';'; }

static Span trim(const char *text, size_t length) {
    while (length > 0 && is_blank(text[0])) text++, length--;
    while (length > 0 && is_blank(text[length - 1])) length--;
    return (Span){text, length};
}

/* A name in a section header or before the = . */
static bool is_name(Span s) {
    for (size_t i = 0; i < s.length; i++) {
        unsigned char c = (unsigned char)s.text[i];
        if (c >= 0x80 || (!isalnum(c) && c != '_' && c != '.' && c != '-')) return false;
    }
    return s.length > 0;
}

/* Room for one more item behind `count`: the array doubles whenever its length reaches a power of two. */
static void *room(void *items, int count, size_t size) {
    if ((count & (count - 1)) != 0) return items;
    return memory_grow(items, (size_t)count, count ? 2 * (size_t)count : 1, size, "configuration");
}

void ini_mistake(Ini *ini, int line, const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ini->mistake = room(ini->mistake, ini->mistakes, sizeof *ini->mistake);
    ini->mistake[ini->mistakes] = (IniMistake){line, ini->mistakes, memory_text(text, strlen(text))};
    ini->mistakes++;
}

static void read_section(Ini *ini, Span s, int line) {
    char quoted[80];
    const char *close = memchr(s.text, ']', s.length);
    Span name = close ? trim(s.text + 1, (size_t)(close - s.text) - 1) : (Span){s.text, 0};
    if (close == NULL) {
        ini_mistake(ini, line, "%s:%d: \"%s\" has no closing ]; write [section]", ini->name, line,
                    ini_quote(quoted, s.text, s.length));
    } else if (!is_name(name)) {
        ini_mistake(ini, line, "%s:%d: \"%s\" is no section name; use letters, digits, _ . -", ini->name, line,
                    ini_quote(quoted, name.text, name.length));
    } else {
        Span rest = trim(close + 1, s.length - (size_t)(close + 1 - s.text));
        if (rest.length > 0 && !opens_comment(rest.text[0]))
            ini_mistake(ini, line, "%s:%d: \"%s\" follows the section's ]; put it on a line of its own", ini->name,
                        line, ini_quote(quoted, rest.text, rest.length));
    }
    /* Also a bad name opens a section, so that its keys are not taken for the section's before. */
    ini->section = room(ini->section, ini->sections, sizeof *ini->section);
    ini->section[ini->sections++] = (IniSection){memory_text(name.text, is_name(name) ? name.length : 0), line};
}

/* The inside of a value in quotes; NULL and a mistake if it does not end well. */
static char *read_quoted(Ini *ini, Span v, int line) {
    char *value = memory_alloc(v.length + 1, 1, "configuration");
    size_t used = 0, i = 1;
    for (; i < v.length && v.text[i] != '"'; i++) {
        bool escape = v.text[i] == '\\' && i + 1 < v.length && (v.text[i + 1] == '"' || v.text[i + 1] == '\\');
        value[used++] = v.text[escape ? ++i : i];
    }
    char quoted[80];
    if (i >= v.length) {
        ini_mistake(ini, line, "%s:%d: the value %s has no closing quote; end it with \"", ini->name, line,
                    ini_quote(quoted, v.text, v.length));
    } else {
        Span rest = trim(v.text + i + 1, v.length - i - 1);
        if (rest.length == 0 || (opens_comment(rest.text[0]) && is_blank(v.text[i + 1]))) return value;
        ini_mistake(ini, line, "%s:%d: \"%s\" follows the closing quote; a quote inside is written \\\"", ini->name,
                    line, ini_quote(quoted, rest.text, rest.length));
    }
    memory_free(value);
    return NULL;
}

/* v starts right behind the = . */
static char *read_value(Ini *ini, Span v, int line) {
    Span trimmed = trim(v.text, v.length);
    if (trimmed.length > 0 && trimmed.text[0] == '"') return read_quoted(ini, trimmed, line);
    for (size_t i = 1; i < v.length; i++)
        if (opens_comment(v.text[i]) && is_blank(v.text[i - 1])) v.length = i;
    trimmed = trim(v.text, v.length);
    return memory_text(trimmed.text, trimmed.length);
}

static void read_entry(Ini *ini, Span s, int line) {
    char quoted[80];
    const char *equals = memchr(s.text, '=', s.length);
    if (equals == NULL) {
        ini_mistake(ini, line, "%s:%d: \"%s\" is neither [section] nor key = value; start a comment with #", ini->name,
                    line, ini_quote(quoted, s.text, s.length));
        return;
    }
    Span key = trim(s.text, (size_t)(equals - s.text));
    if (!is_name(key)) {
        ini_mistake(ini, line, "%s:%d: \"%s\" is no key; use letters, digits, _ . -", ini->name, line,
                    ini_quote(quoted, key.text, key.length));
    } else if (ini->sections == 0) {
        ini_mistake(ini, line, "%s:%d: key \"%s\" stands before the first section; put [section] above it", ini->name,
                    line, ini_quote(quoted, key.text, key.length));
    } else {
        char *value = read_value(ini, (Span){equals + 1, s.length - (size_t)(equals + 1 - s.text)}, line);
        if (value == NULL) return;
        ini->entry = room(ini->entry, ini->entries, sizeof *ini->entry);
        ini->entry[ini->entries++] = (IniEntry){.section = ini->section[ini->sections - 1].name,
                                                .key = memory_text(key.text, key.length),
                                                .value = value,
                                                .line = line};
    }
}

static void read_line(Ini *ini, const char *text, size_t length, int line) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) {
            ini_mistake(ini, line, "%s:%d: byte 0x%02X in column %zu is no text; remove it", ini->name, line, c, i + 1);
            return;
        }
    }
    Span s = trim(text, length);
    if (s.length == 0 || opens_comment(s.text[0])) return;
    if (s.text[0] == '[')
        read_section(ini, s, line);
    else
        read_entry(ini, s, line);
}

static int by_name_and_line(const void *a, const void *b) {
    const IniEntry *x = a, *y = b;
    int order = strcmp(x->section, y->section);
    if (order == 0) order = strcmp(x->key, y->key);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* A section is compared as an entry whose key is "". Sorting finds repetitions in n log n steps. */
static void find_repetitions(Ini *ini) {
    char no_key[] = "";
    int n = ini->sections + ini->entries;
    IniEntry *all = memory_alloc((size_t)n, sizeof *all, "configuration");
    for (int i = 0; i < ini->sections; i++)
        all[i] = (IniEntry){.section = ini->section[i].name, .key = no_key, .line = ini->section[i].line};
    if (ini->entries > 0) memcpy(all + ini->sections, ini->entry, (size_t)ini->entries * sizeof *all);
    qsort(all, (size_t)n, sizeof *all, by_name_and_line);
    for (int i = 1, first = 0; i < n; i++) {
        const IniEntry *a = &all[first], *b = &all[i];
        char section[80], key[80];
        if (strcmp(a->section, b->section) != 0 || strcmp(a->key, b->key) != 0) {
            first = i;
        } else if (b->key[0] != '\0') {
            ini_mistake(ini, b->line, "%s:%d: [%s] %s was given in line %d already; keep one of them", ini->name,
                        b->line, ini_quote(section, b->section, strlen(b->section)),
                        ini_quote(key, b->key, strlen(b->key)), a->line);
        } else if (b->section[0] != '\0') { /* "" is a section with a bad name, reported before */
            ini_mistake(ini, b->line, "%s:%d: section [%s] was opened in line %d already; put its keys there",
                        ini->name, b->line, ini_quote(section, b->section, strlen(b->section)), a->line);
        }
    }
    memory_free(all);
}

void ini_parse(Ini *ini, const char *name, const char *bytes, size_t size) {
    *ini = (Ini){.name = memory_text(name, strlen(name))};
    if (size > INI_MOST_BYTES) {
        ini_mistake(ini, 0, "%s: has %zu bytes, more than the %d of any configuration; is it the right file?", name,
                    size, INI_MOST_BYTES);
        return;
    }
    const char *p = bytes, *end = bytes + size;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) p += 3;
    for (int line = 1; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        size_t length = (size_t)(stop - p);
        if (length > 0 && p[length - 1] == '\r') length--;
        read_line(ini, p, length, line);
        p = stop + 1;
    }
    find_repetitions(ini);
}

static int by_line(const void *a, const void *b) {
    const IniMistake *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

bool ini_report(Ini *ini, Error *error) {
    if (ini->mistakes == 0) return true;
    error_set(error, "%s", "");
    qsort(ini->mistake, (size_t)ini->mistakes, sizeof *ini->mistake, by_line);
    const size_t ending = 64; /* kept for "and N more" */
    for (int i = 0; i < ini->mistakes; i++) {
        size_t used = strlen(error->text) + 1 + strlen(ini->mistake[i].text);
        if (i > 0 && used + ending >= sizeof error->text)
            return error_add(error, "and %d more mistakes; correct these first", ini->mistakes - i);
        error_add(error, "%s", ini->mistake[i].text);
    }
    return false;
}

void ini_free(Ini *ini) {
    for (int i = 0; i < ini->entries; i++) {
        memory_free(ini->entry[i].key);
        memory_free(ini->entry[i].value);
    }
    for (int i = 0; i < ini->sections; i++) memory_free(ini->section[i].name);
    for (int i = 0; i < ini->mistakes; i++) memory_free(ini->mistake[i].text);
    memory_free(ini->entry);
    memory_free(ini->section);
    memory_free(ini->mistake);
    memory_free(ini->name);
    *ini = (Ini){0};
}

/* Length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7), 0 where there is none. */
static size_t utf8_length(const unsigned char *s, size_t left) {
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : 4;
    if (s[0] > 0xF4 || (s[0] >= 0x80 && s[0] < 0xC2) || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (n > 2) {
        if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
        if (s[0] == 0xED && s[1] > 0x9F) return 0;
        if (s[0] == 0xF0 && s[1] < 0x90) return 0;
        if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    }
    return n;
}

const char *ini_quote(char out[80], const char *text, size_t length) {
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        const unsigned char *s = (const unsigned char *)text + i;
        size_t n = utf8_length(s, length - i);
        if (used > 60) {
            strcpy(out + used, "...");
            return out;
        }
        if (n == 0 || s[0] < 0x20 || s[0] == 0x7F) {
            used += (size_t)snprintf(out + used, 5, "\\x%02X", s[0]);
            i++;
        } else {
            memcpy(out + used, s, n);
            used += n;
            i += n;
        }
    }
    out[used] = '\0';
    return out;
}

char *ini_value_text(const char *value) {
    size_t length = strlen(value);
    bool quotes = value[0] == '"' || opens_comment(value[0]);
    if (length > 0 && (is_blank(value[0]) || is_blank(value[length - 1]))) quotes = true;
    for (size_t i = 1; i < length; i++)
        if (opens_comment(value[i]) && is_blank(value[i - 1])) quotes = true;
    if (!quotes) return memory_text(value, length);
    char *text = memory_alloc(2 * length + 3, 1, "configuration");
    size_t used = 0;
    text[used++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (value[i] == '"' || value[i] == '\\') text[used++] = '\\';
        text[used++] = value[i];
    }
    text[used] = '"';
    return text;
}
