/* Two sides of parallel text: line i of one translates line i of the other.
 *
 * They come from text files, several a side if need be, or from TSV files, a pair a line with one tab between its sides.
 * Lists of files are written as in the configuration (base/path_list.h). */
#ifndef DATA_PARALLEL_TEXT_H
#define DATA_PARALLEL_TEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/lines.h"

/* A file as it was read: lines with their place in it, and what reading dropped. */
typedef struct CorpusFile {
    char *path;
    Lines lines;
} CorpusFile;

typedef struct ParallelText {
    Lines source, target; /* of all files, in their order; the text itself belongs to the files */
    CorpusFile *file;     /* [files] */
    int files;
} ParallelText;

/* Fails as text_file_read does, and, naming both files and counts, where file k of one side has another number of lines
 * than file k of the other. On failure there is nothing to free. */
bool parallel_text_read(ParallelText *text, const char *source_paths, const char *target_paths, Error *error);

/* Fails, naming file:line, where a line has no tab or several. */
bool parallel_text_read_tsv(ParallelText *text, const char *paths, Error *error);

void parallel_text_free(ParallelText *text);

#endif
