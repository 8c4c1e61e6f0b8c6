/* Where a line of a parallel corpus stands: its file and its number there, kept when the text itself is not. */
#ifndef DATA_PLACES_H
#define DATA_PLACES_H

#include <stdint.h>

#include "data/parallel_text.h"

typedef struct CorpusPlaces {
    char **path;  /* [files] of the source side, or TSV files */
    int64_t *end; /* [files] lines up to and with this file */
    int files;
} CorpusPlaces;

/* `text` as parallel_text_read (sides = 2) or parallel_text_read_tsv (sides = 1) left it. */
void corpus_places_init(CorpusPlaces *places, const ParallelText *text, int sides);
void corpus_places_free(CorpusPlaces *places); /* a zeroed one too */

/* The file of a line of the corpus, from 0; *number is its number in that file, from 1. */
const char *corpus_place(int64_t *number, const CorpusPlaces *places, int64_t line);

#endif
