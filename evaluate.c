/* ./evaluate HYP REF: how many lines of a translation are exactly the reference. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/version.h"
#include "data/exact_match.h"
#include "data/text_file.h"

static const char USAGE[] =
    "usage: evaluate HYP REF [--tags FILE]\n"
    "\n"
    "Prints the percentage of lines of HYP that equal the line of REF byte for byte.\n"
    "\n"
    "  --tags FILE   a line of words for each line of REF; prints the figure for each word too\n"
    "  --help, --version\n";

enum { OPTION_TAGS = 256, OPTION_HELP, OPTION_VERSION };

static const struct option OPTIONS[] = {{"tags", required_argument, NULL, OPTION_TAGS},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {"version", no_argument, NULL, OPTION_VERSION},
                                        {NULL, 0, NULL, 0}};

static bool read_parallel(Lines *lines, const char *path, const Lines *like, const char *like_path, Error *error) {
    if (!text_file_read(lines, path, error)) return false;
    if (lines->count == like->count) return true;
    error_set(error, "%s has %zu lines but %s has %zu; they must belong together line by line", path, lines->count,
              like_path, like->count);
    lines_free(lines);
    return false;
}

static void print(const ExactMatch *m) {
    printf("exact match = %.2f (%d of %d)\n", exact_match_percent(m->exact, m->lines), m->exact, m->lines);
    for (int i = 0; i < m->tags; i++) {
        const TagCount *t = &m->tag[i];
        printf("  %-28.*s %6.2f (%d of %d)\n", (int)t->tag.length, t->tag.text, exact_match_percent(t->exact, t->lines),
               t->exact, t->lines);
    }
}

static bool evaluate(const char *hypothesis_path, const char *reference_path, const char *tags_path, Error *error) {
    Lines hypothesis, reference, tags;
    if (!text_file_read(&reference, reference_path, error)) return false;
    bool good = read_parallel(&hypothesis, hypothesis_path, &reference, reference_path, error);
    if (good && tags_path != NULL && !read_parallel(&tags, tags_path, &reference, reference_path, error)) {
        good = false;
        lines_free(&hypothesis);
    }
    if (good) {
        ExactMatch m = exact_match_count(&hypothesis, &reference, tags_path ? &tags : NULL);
        print(&m);
        memory_free(m.tag);
        lines_free(&hypothesis);
        if (tags_path != NULL) lines_free(&tags);
    }
    lines_free(&reference);
    return good;
}

int main(int argc, char **argv) {
    const char *tags = NULL;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case OPTION_TAGS:
            tags = optarg;
            break;
        case OPTION_HELP:
            fputs(USAGE, stdout);
            return 0;
        case OPTION_VERSION:
            puts("evaluate (Tandem) " TANDEM_VERSION);
            return 0;
        default:
            fputs("evaluate: see evaluate --help\n", stderr);
            return 2;
        }
    }
    if (argc - optind != 2) {
        fputs("evaluate: give two files, a translation and its reference; see evaluate --help\n", stderr);
        return 2;
    }
    Error error = {""};
    bool good = evaluate(argv[optind], argv[optind + 1], tags, &error);
    if (!good) fprintf(stderr, "evaluate: %s\n", error.text);
    if (!good) return 1;
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, "evaluate: writing failed: %s; is the disk full?\n", strerror(errno));
    return 1;
}
