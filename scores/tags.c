#include "scores/tags.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int by_name(const void *a, const void *b) {
    const TagCount *x = a, *y = b;
    size_t least = x->tag.length < y->tag.length ? x->tag.length : y->tag.length;
    int order = memcmp(x->tag.text, y->tag.text, least);
    return order != 0 ? order : (x->tag.length > y->tag.length) - (x->tag.length < y->tag.length);
}

static TagCount *find_or_add(TagCounts *counts, Line tag) {
    size_t count = (size_t)counts->count;
    for (size_t i = 0; i < count; i++)
        if (line_equal(counts->tag[i].tag, tag)) return &counts->tag[i];
    if ((count & (count - 1)) == 0) /* full at powers of two */
        counts->tag = memory_grow(counts->tag, count, count ? 2 * count : 1, sizeof *counts->tag, "tags");
    counts->tag[counts->count++] = (TagCount){.tag = tag};
    return &counts->tag[count];
}

static void count_line(TagCounts *counts, Line tags, bool exact) {
    const char *p = tags.text, *end = tags.text + tags.length;
    while (p < end) {
        const char *space = memchr(p, ' ', (size_t)(end - p)), *stop = space ? space : end;
        if (stop > p) {
            TagCount *tag = find_or_add(counts, (Line){p, (size_t)(stop - p)});
            tag->lines++;
            tag->exact += exact;
        }
        p = stop + 1;
    }
}

TagCounts tags_count(const Line *hypothesis, const Line *const *reference, int references, const Lines *tags) {
    TagCounts counts = {0};
    for (size_t i = 0; i < tags->count; i++) {
        bool exact = false;
        for (int r = 0; r < references; r++) exact = exact || line_equal(hypothesis[i], reference[r][i]);
        count_line(&counts, tags->line[i], exact);
    }
    if (counts.count > 0) qsort(counts.tag, (size_t)counts.count, sizeof *counts.tag, by_name);
    return counts;
}

void tags_free(TagCounts *counts) {
    memory_free(counts->tag);
    *counts = (TagCounts){0};
}
