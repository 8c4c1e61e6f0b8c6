#include "base/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_CODE = 256 }; /* getopt's own codes are characters */

static bool read_number(double *value, const Option *o, const char *text, Error *error) {
    char *end;
    *value = strtod(text, &end);
    bool inside = end != text && *end == '\0' && *value >= o->least && *value <= o->most;
    if (inside && (o->kind == OPTION_REAL || *value == (int)*value)) return true;
    return error_set(error, "--%s %s: give a %snumber from %.10g to %.10g", o->name, text,
                     o->kind == OPTION_WHOLE ? "whole " : "", o->least, o->most);
}

/* The place of text[0..length) among the choices, or -1. */
static int place_of(const Option *o, const char *text, size_t length) {
    int place = 0;
    for (const char *choice = o->choices;; place++) {
        size_t n = strcspn(choice, "|");
        if (n == length && memcmp(choice, text, n) == 0) return place;
        if (choice[n] == '\0') return -1;
        choice += n + 1;
    }
}

/* "--type bep: give bpe, word or char" */
static bool no_choice(const Option *o, const char *text, size_t length, Error *error) {
    char words[256];
    size_t used = 0;
    for (const char *c = o->choices; *c != '\0' && used + 5 < sizeof words; c++) {
        const char *part = *c != '|' ? (char[2]){*c} : strchr(c + 1, '|') != NULL ? ", " : " or ";
        used += (size_t)snprintf(words + used, sizeof words - used, "%s", part);
    }
    return error_set(error, "--%s %.*s: give %s", o->name, (int)length, text, words);
}

static bool read_set(bool *set, const Option *o, const char *text, Error *error) {
    for (;;) {
        size_t n = strcspn(text, ",");
        int place = place_of(o, text, n);
        if (place < 0) return no_choice(o, text, n, error);
        set[place] = true;
        if (text[n] == '\0') return true;
        text += n + 1;
    }
}

static bool read_sets(bool *set, const Option *o, int argc, char **argv, Error *error) {
    if (!read_set(set, o, optarg, error)) return false;
    while (optind < argc && place_of(o, argv[optind], strcspn(argv[optind], ",")) >= 0)
        if (!read_set(set, o, argv[optind++], error)) return false;
    return true;
}

static bool add_text(OptionList *list, const Option *o, Error *error) {
    if (list->count == OPTION_LIST_MOST)
        return error_set(error, "--%s: given more than %d times; put some into a file", o->name, OPTION_LIST_MOST);
    list->text[list->count++] = optarg;
    return true;
}

static bool read_value(void *field, const Option *o, int argc, char **argv, Error *error) {
    double number;
    switch (o->kind) {
    case OPTION_FLAG:
        return *(bool *)field = true;
    case OPTION_WHOLE:
        if (!read_number(&number, o, optarg, error)) return false;
        *(int *)field = (int)number;
        return true;
    case OPTION_REAL:
        if (!read_number(&number, o, optarg, error)) return false;
        *(double *)field = number;
        return true;
    case OPTION_TEXT:
        *(const char **)field = optarg;
        return true;
    case OPTION_LIST:
        return add_text(field, o, error);
    case OPTION_CHOICE:
        *(int *)field = place_of(o, optarg, strlen(optarg));
        return *(int *)field >= 0 || no_choice(o, optarg, strlen(optarg), error);
    case OPTION_WORDS:
        return read_sets(field, o, argc, argv, error);
    }
    return false;
}

bool options_parse(void *fields, const Option *table, int count, int argc, char **argv, bool *given, int *first,
                   Error *error) {
    struct option *list = memory_alloc((size_t)count + 1, sizeof *list, "options");
    for (int i = 0; i < count; i++)
        list[i] = (struct option){table[i].name, table[i].kind == OPTION_FLAG ? no_argument : required_argument, NULL,
                                  FIRST_CODE + i};
    bool good = true;
    for (int code; good && (code = getopt_long(argc, argv, "", list, NULL)) != -1;) {
        int i = code - FIRST_CODE;
        good = i >= 0 ? read_value((char *)fields + table[i].offset, &table[i], argc, argv, error)
                      : error_set(error, "see --help"); /* what is wrong, getopt has said */
        if (good && given != NULL) given[i] = true;
    }
    memory_free(list);
    *first = optind;
    return good;
}

void options_print_help(const Option *table, int count, FILE *out) {
    for (const Option *o = table; o < table + count; o++) {
        char call[96];
        bool named = o->value != NULL && o->value[0] == '\0';
        snprintf(call, sizeof call, "--%s %s", o->name, o->value == NULL ? "" : named ? o->choices : o->value);
        fprintf(out, "  %-26s  %s\n", call, o->help);
    }
}

int options_finish(const char *program) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, "%s: writing failed: %s; is the disk full?\n", program, strerror(errno));
    return 1;
}
