#include "data/places.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

void corpus_places_init(CorpusPlaces *p, const ParallelText *text, int sides) {
    *p = (CorpusPlaces){.files = text->files / sides};
    p->path = memory_alloc((size_t)p->files, sizeof *p->path, "files of a corpus");
    p->end = memory_alloc((size_t)p->files, sizeof *p->end, "files of a corpus");
    int64_t lines = 0;
    for (int i = 0; i < p->files; i++) {
        const CorpusFile *file = &text->file[i * sides]; /* the source; its target follows */
        p->path[i] = memory_text(file->path, strlen(file->path));
        p->end[i] = lines += (int64_t)file->lines.count;
    }
}

void corpus_places_free(CorpusPlaces *p) {
    for (int i = 0; i < p->files; i++) memory_free(p->path[i]);
    memory_free(p->path);
    memory_free(p->end);
    *p = (CorpusPlaces){0};
}

const char *corpus_place(int64_t *number, const CorpusPlaces *p, int64_t line) {
    int file = 0;
    while (file < p->files && line >= p->end[file]) file++;
    assert(line >= 0 && file < p->files);
    *number = line + 1 - (file > 0 ? p->end[file - 1] : 0);
    return p->path[file];
}
