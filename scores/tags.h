/* Exact matches by tag: each line has a list of words, its tags, and each tag counts the lines that have it. */
#ifndef SCORES_TAGS_H
#define SCORES_TAGS_H

#include "base/lines.h"

typedef struct TagCount {
    Line tag;
    int lines, exact; /* exact: lines that equal a reference byte for byte */
} TagCount;

typedef struct TagCounts {
    TagCount *tag; /* [count], by name; their text belongs to the lines of tags */
    int count;
} TagCounts;

/* hypothesis[i] belongs to reference[r][i] for r = 0 .. references-1 and to tags->line[i]. */
TagCounts tags_count(const Line *hypothesis, const Line *const *reference, int references, const Lines *tags);
void tags_free(TagCounts *counts);

#endif
