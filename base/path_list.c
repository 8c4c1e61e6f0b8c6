#include "base/path_list.h"

#include <string.h>

#include "base/memory.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Reads one path up to a comma or the end, and returns what follows. */
static const char *read_path(char *out, const char *text) {
    size_t used = 0;
    for (; *text != '\0' && *text != ','; text++) {
        if (text[0] == '\\' && (text[1] == ',' || text[1] == '\\')) text++;
        out[used++] = *text;
    }
    while (*text == ',' && used > 0 && is_blank(out[used - 1])) used--;
    out[used] = '\0';
    return text;
}

bool path_list_split(PathList *list, const char *text) {
    size_t most = 1;
    for (const char *p = text; *p != '\0'; p++) most += *p == ',';
    *list = (PathList){.path = memory_alloc(most, sizeof *list->path, "paths")};
    bool good = true, more = text[0] != '\0';
    while (good && more) {
        char *path = memory_alloc(strlen(text) + 1, 1, "path");
        text = read_path(path, text);
        list->path[list->count++] = path;
        good = path[0] != '\0';
        more = *text == ',';
        if (more) text++;
        while (more && is_blank(*text)) text++;
    }
    if (!good) path_list_free(list);
    return good;
}

void path_list_free(PathList *list) {
    for (int i = 0; i < list->count; i++) memory_free(list->path[i]);
    memory_free(list->path);
    *list = (PathList){0};
}
