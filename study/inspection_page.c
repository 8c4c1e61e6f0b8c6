#include "study/inspection_page.h"

#include <assert.h>
#include <string.h>

#include "base/file.h"

/* study/inspect.html as bytes with a final NUL, made by a rule of the Makefile. */
extern const unsigned char inspect_html[];

static const char PLACE[] = "{{data}}";

/* In a script element nothing but `<` can begin a tag; inside a JSON string it may be written \u003c, and elsewhere in JSON
 * there is none. */
static bool write_data(FileReplacement *file, const char *json, Error *error) {
    for (;;) {
        size_t plain = strcspn(json, "<");
        if (!file_replace_write(file, json, plain, error)) return false;
        json += plain;
        if (*json == '\0') return true;
        if (!file_replace_write(file, "\\u003c", 6, error)) return false;
        json++;
    }
}

bool inspection_page_write(const char *path, const char *json, Error *error) {
    const char *page = (const char *)inspect_html, *place = strstr(page, PLACE);
    assert(place != NULL);
    const char *rest = place + strlen(PLACE);
    FileReplacement file;
    return file_replace_begin(&file, path, error) && file_replace_write(&file, page, (size_t)(place - page), error) &&
           write_data(&file, json, error) && file_replace_write(&file, rest, strlen(rest), error) &&
           file_replace_commit(&file, error);
}
