#include "data/parallel_text.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_list.h"
#include "data/text_file.h"

/* The lines of one more file, which belong to `text`; NULL with an error. */
static const Lines *add_file(ParallelText *text, const char *path, Error *error) {
    Lines lines;
    if (!text_file_read(&lines, path, error)) return NULL;
    CorpusFile *file = &text->file[text->files++];
    *file = (CorpusFile){memory_text(path, strlen(path)), lines};
    return &file->lines;
}

/* Room for `more` lines at the end of a side. False if these would be more than an int can count. */
static bool make_room(Lines *side, size_t more, const char *path, Error *error) {
    if (side->count + more > INT32_MAX)
        return error_set(error, "%s: with it the corpus has more than 2^31 lines; split the corpus", path);
    side->line = memory_grow(side->line, side->count, side->count + more, sizeof *side->line, "lines of a corpus");
    return true;
}

static bool add_lines(Lines *side, const Lines *lines, const char *path, Error *error) {
    if (!make_room(side, lines->count, path, error)) return false;
    memcpy(side->line + side->count, lines->line, lines->count * sizeof *lines->line);
    side->count += lines->count;
    return true;
}

static bool add_pair(ParallelText *text, const char *source_path, const char *target_path, Error *error) {
    const Lines *source = add_file(text, source_path, error);
    const Lines *target = source != NULL ? add_file(text, target_path, error) : NULL;
    if (target == NULL) return false;
    if (source->count != target->count)
        return error_set(error, "%s has %zu lines but %s has %zu; line i of one must translate line i of the other",
                         source_path, source->count, target_path, target->count);
    return add_lines(&text->source, source, source_path, error) && add_lines(&text->target, target, target_path, error);
}

/* Splits a list that must name at least one file. */
static bool split(PathList *list, const char *paths, Error *error) {
    if (path_list_split(list, paths) && list->count > 0) return true;
    return error_set(error, "\"%s\": names an empty path; write a.en, b.en", paths);
}

static bool add_pairs(ParallelText *text, const PathList *source, const PathList *target, Error *error) {
    if (source->count != target->count)
        return error_set(error, "%d files on the source side (%s ...) but %d on the target side (%s ...); give as many",
                         source->count, source->path[0], target->count, target->path[0]);
    text->file = memory_alloc((size_t)(source->count + target->count), sizeof *text->file, "files of a corpus");
    for (int i = 0; i < source->count; i++)
        if (!add_pair(text, source->path[i], target->path[i], error)) return false;
    return true;
}

bool parallel_text_read(ParallelText *text, const char *source_paths, const char *target_paths, Error *error) {
    PathList source, target = {0};
    *text = (ParallelText){0};
    if (!split(&source, source_paths, error)) return false;
    bool good = split(&target, target_paths, error) && add_pairs(text, &source, &target, error);
    path_list_free(&source);
    path_list_free(&target);
    if (!good) parallel_text_free(text);
    return good;
}

/* Cuts a line at its one tab. */
static bool cut(Line *source, Line *target, Line line, const char *path, size_t number, Error *error) {
    const char *end = line.text + line.length, *tab = memchr(line.text, '\t', line.length);
    if (tab == NULL)
        return error_set(error, "%s:%zu: has no tab; a line is the source, one tab, and the target", path, number);
    if (memchr(tab + 1, '\t', (size_t)(end - tab - 1)) != NULL)
        return error_set(error, "%s:%zu: has more than one tab; a line is the source, one tab, and the target", path,
                         number);
    *source = (Line){line.text, (size_t)(tab - line.text)};
    *target = (Line){tab + 1, (size_t)(end - tab - 1)};
    return true;
}

static bool add_tsv(ParallelText *text, const char *path, Error *error) {
    const Lines *lines = add_file(text, path, error);
    Lines *source = &text->source, *target = &text->target;
    if (lines == NULL || !make_room(source, lines->count, path, error) || !make_room(target, lines->count, path, error))
        return false;
    for (size_t i = 0; i < lines->count; i++)
        if (!cut(&source->line[source->count++], &target->line[target->count++], lines->line[i], path, i + 1, error))
            return false;
    return true;
}

bool parallel_text_read_tsv(ParallelText *text, const char *paths, Error *error) {
    PathList list;
    *text = (ParallelText){0};
    if (!split(&list, paths, error)) return false;
    text->file = memory_alloc((size_t)list.count, sizeof *text->file, "files of a corpus");
    bool good = true;
    for (int i = 0; good && i < list.count; i++) good = add_tsv(text, list.path[i], error);
    path_list_free(&list);
    if (!good) parallel_text_free(text);
    return good;
}

void parallel_text_free(ParallelText *text) {
    for (int i = 0; i < text->files; i++) {
        memory_free(text->file[i].path);
        lines_free(&text->file[i].lines);
    }
    memory_free(text->file);
    lines_free(&text->source);
    lines_free(&text->target);
    *text = (ParallelText){0};
}
