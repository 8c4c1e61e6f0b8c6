/* Exact match: the share of lines that equal a reference byte for byte, in all and by tag. */
#ifndef DATA_EXACT_MATCH_H
#define DATA_EXACT_MATCH_H

#include "base/lines.h"

typedef struct TagCount {
    Line tag;
    int lines, exact;
} TagCount;

typedef struct ExactMatch {
    int lines, exact;
    TagCount *tag; /* [tags], by name, from memory_alloc; their text belongs to the tag lines */
    int tags;
} ExactMatch;

/* A line is exact if it equals that of any of the references [references], at least one. All have the same number of
 * lines; so has `tags`, each line a list of words, unless it is NULL. */
ExactMatch exact_match_count(const Lines *hypothesis, const Lines *reference, int references, const Lines *tags);

static inline double exact_match_percent(int exact, int lines) { return lines > 0 ? 100.0 * exact / lines : 0; }

#endif
