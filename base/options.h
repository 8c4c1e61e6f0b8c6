/* The command line of a program: one table of options parses, checks and explains them.
 *
 * GNU long options, in any order among the arguments, which are moved behind them; each fills a field of a struct. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

typedef enum OptionKind {
    OPTION_FLAG,   /* bool */
    OPTION_WHOLE,  /* int from least to most */
    OPTION_REAL,   /* double from least to most */
    OPTION_TEXT,   /* const char *, borrowed from argv */
    OPTION_LIST,   /* OptionList: one more text each time it is given */
    OPTION_CHOICE, /* int, or an enum: the place of a word in `choices` */
    OPTION_WORDS   /* bool[choices]: true for each word. Words have commas between them, or are arguments of their own:
                    * it takes those that follow as long as they are choices. */
} OptionKind;

enum { OPTION_LIST_MOST = 256 };
typedef struct OptionList {
    const char *text[OPTION_LIST_MOST + 1]; /* [count] borrowed from argv; there is room for one of the program's own */
    int count;
} OptionList;

typedef struct Option {
    const char *name,
        *value; /* value: what stands for it in the help; NULL for a flag, and "" for choices to name them */
    OptionKind kind;
    size_t offset; /* of the field */
    double least, most;
    const char *choices; /* "bpe|word|char" */
    const char *help;
} Option;

/* Fills `fields`, a struct with its defaults; given[i] (NULL: nobody asks) tells whether table[i] was there. *first becomes
 * the place of the first argument in argv. False, with "--name text: what to give", where a value is wrong. */
bool options_parse(void *fields, const Option *table, int count, int argc, char **argv, bool *given, int *first,
                   Error *error);

/* A line for each option of the table. */
void options_print_help(const Option *table, int count, FILE *out);

/* Ends a program that only had to print: 0 if all of it is written, else 1 with a line on stderr. */
int options_finish(const char *program);

#endif
