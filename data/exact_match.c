#include "data/exact_match.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool equal(Line a, Line b) { return a.length == b.length && memcmp(a.text, b.text, a.length) == 0; }

static int by_name(const void *a, const void *b) {
    const TagCount *x = a, *y = b;
    size_t least = x->tag.length < y->tag.length ? x->tag.length : y->tag.length;
    int order = memcmp(x->tag.text, y->tag.text, least);
    return order != 0 ? order : (x->tag.length > y->tag.length) - (x->tag.length < y->tag.length);
}

static TagCount *find_or_add(ExactMatch *m, Line tag) {
    for (int i = 0; i < m->tags; i++)
        if (equal(m->tag[i].tag, tag)) return &m->tag[i];
    if ((m->tags & (m->tags - 1)) == 0) /* full at powers of two */
        m->tag = memory_grow(m->tag, (size_t)m->tags, m->tags ? 2 * (size_t)m->tags : 1, sizeof *m->tag, "tags");
    m->tag[m->tags] = (TagCount){.tag = tag};
    return &m->tag[m->tags++];
}

static void count_tags(ExactMatch *m, Line tags, bool exact) {
    const char *p = tags.text, *end = tags.text + tags.length;
    while (p < end) {
        const char *space = memchr(p, ' ', (size_t)(end - p)), *stop = space ? space : end;
        if (stop > p) {
            TagCount *tag = find_or_add(m, (Line){p, (size_t)(stop - p)});
            tag->lines++;
            tag->exact += exact;
        }
        p = stop + 1;
    }
}

static bool equals_any(const Lines *hypothesis, const Lines *reference, int references, size_t line) {
    for (int r = 0; r < references; r++)
        if (equal(hypothesis->line[line], reference[r].line[line])) return true;
    return false;
}

ExactMatch exact_match_count(const Lines *hypothesis, const Lines *reference, int references, const Lines *tags) {
    assert(references >= 1 && (tags == NULL || tags->count == hypothesis->count));
    for (int r = 0; r < references; r++) assert(reference[r].count == hypothesis->count);
    ExactMatch m = {.lines = (int)hypothesis->count};
    for (size_t i = 0; i < hypothesis->count; i++) {
        bool exact = equals_any(hypothesis, reference, references, i);
        m.exact += exact;
        if (tags != NULL) count_tags(&m, tags->line[i], exact);
    }
    if (m.tags > 0) qsort(m.tag, (size_t)m.tags, sizeof *m.tag, by_name);
    return m;
}
