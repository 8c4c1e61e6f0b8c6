/* An inspection as one page, for a browser without a network (study/inspect.html). */
#ifndef STUDY_INSPECTION_PAGE_H
#define STUDY_INSPECTION_PAGE_H

#include "base/error.h"

/* Writes the page with the data of inspection_json. */
bool inspection_page_write(const char *path, const char *json, Error *error);

#endif
