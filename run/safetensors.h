/* The safetensors format: named tensors in one file, read by many tools.
 *
 *     8 bytes     length of the header, little-endian
 *     header      JSON: {"__metadata__": {"format": "pt", ...},
 *                        "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}, then spaces
 *     data        the tensors, row by row, little-endian, one behind the other without gaps
 *
 * The header is padded so that the data start at a multiple of 8 bytes; wider types come first, so that each
 * tensor is aligned. "tandem.checksum" in the metadata is the XXH64 (seed 0, 16 hex digits) of the data, then
 * of names, types, shapes and other metadata (safetensors_checksum tells how); it is verified where present,
 * so that files of other tools load too. Machines are little-endian. */
#ifndef RUN_SAFETENSORS_H
#define RUN_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/real.h"

typedef enum SafetensorsType {
    SAFETENSORS_F32,
    SAFETENSORS_F64,
    SAFETENSORS_I32,
    SAFETENSORS_I64,
    SAFETENSORS_U8,
    SAFETENSORS_TYPES
} SafetensorsType;

enum {
    SAFETENSORS_REAL = REAL_IS_DOUBLE ? SAFETENSORS_F64 : SAFETENSORS_F32,
    SAFETENSORS_MOST_DIMENSIONS = 8,
    SAFETENSORS_MOST_HEADER = 1 << 24 /* bytes */
};

typedef struct SafetensorsTensor {
    const char *name;
    SafetensorsType type;
    int rank; /* 0 for a single number */
    int64_t shape[SAFETENSORS_MOST_DIMENSIONS];
    const void *data; /* [shape], row-major, aligned to its type */
} SafetensorsTensor;

typedef struct SafetensorsPair {
    const char *key, *value;
} SafetensorsPair;

/* A file in memory. */
typedef struct Safetensors {
    char *path;
    SafetensorsTensor *tensor; /* [tensors], by name */
    SafetensorsPair *metadata; /* [pairs], by key */
    int tensors, pairs;
    void *bytes; /* the data that the tensors point into */
} Safetensors;

size_t safetensors_type_size(SafetensorsType type);
int64_t safetensors_count(const SafetensorsTensor *tensor); /* elements; 1 at rank 0 */

/* Reads and checks everything: sizes, shapes, offsets, checksum. On failure there is nothing to free. */
bool safetensors_read(Safetensors *file, const char *path, Error *error);
void safetensors_free(Safetensors *file);

/* NULL where there is none of that name. */
const SafetensorsTensor *safetensors_find(const Safetensors *file, const char *name);
const char *safetensors_metadata(const Safetensors *file, const char *key);

/* out = the tensor `name`, an F32 or F64 of exactly this shape, each number converted to real. */
bool safetensors_copy(real *out, const Safetensors *file, const char *name, int rank, const int64_t *shape,
                      Error *error);

/* Replaces the file at `path` (base/file.h). Names and keys must differ from each other and, with the values,
 * be UTF-8; "format" and "tandem.checksum" are added here and are no keys of the caller's. */
bool safetensors_write(const char *path, const SafetensorsTensor *tensor, int tensors, const SafetensorsPair *metadata,
                       int pairs, Error *error);

#endif
