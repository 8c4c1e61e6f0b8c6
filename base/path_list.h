/* Several paths in one value of a configuration: "a.en, b.en".
 *
 * Commas separate the paths, and blanks next to a comma are dropped; all other blanks belong to a path. Within a
 * path \, stands for a comma and \\ for a backslash; any other backslash stands for itself. */
#ifndef BASE_PATH_LIST_H
#define BASE_PATH_LIST_H

#include <stdbool.h>

typedef struct PathList {
    char **path; /* [count], owned */
    int count;
} PathList;

/* False where a path is empty, as in "a,,b" or "a,"; then there is nothing to free. "" has no paths. */
bool path_list_split(PathList *list, const char *text);
void path_list_free(PathList *list);

#endif
