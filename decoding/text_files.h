/* The files that ./translate reads line by line and writes, plain or gzip-compressed. */
#ifndef DECODING_TEXT_FILES_H
#define DECODING_TEXT_FILES_H

#include <stdio.h>

#include "base/error.h"
#include "base/line_reader.h"

typedef struct TextInput {
    const char *name; /* borrowed */
    int descriptor;
    void *gz; /* zlib's reader of a compressed file, or NULL */
    bool is_file, is_terminal;
    LineReader lines;
} TextInput;

/* path NULL: standard input. Compressed files are known by their first bytes, whatever they are called. */
bool text_input_open(TextInput *in, const char *path, Error *error);

/* False if a read had failed, or the compressed data were damaged or cut. */
bool text_input_close(TextInput *in, Error *error);

/* Does it read the regular file at path? To open that for writing would empty it. */
bool text_input_is(const TextInput *in, const char *path);

/* path NULL: standard output. A name that ends in .gz is compressed. NULL and an error on failure. */
FILE *text_output_open(const char *path, Error *error);

/* False if what was printed could not be written: to be asked while errno still tells why. */
bool text_output_flush(FILE *out, const char *path, Error *error);

/* The same of what was left to be written. */
bool text_output_close(FILE *out, const char *path, Error *error);

#endif
