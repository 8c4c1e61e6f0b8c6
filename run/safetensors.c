#include "run/safetensors.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/ini.h"
#include "base/memory.h"
#include "run/safetensors_checksum.h"

/* A tensor of the header while it is checked: [begin, end) are bytes of the data. */
typedef struct Place {
    SafetensorsTensor tensor;
    uint64_t begin, end;
} Place;

/* A name for a message. */
static const char *quote(char out[80], const char *name) { return ini_quote(out, name, strlen(name)); }

static bool read_type(SafetensorsTensor *t, const json_t *entry, const char *path, Error *error) {
    char name[80], type[80];
    const char *text = json_string_value(json_object_get(entry, "dtype"));
    for (int i = 0; text != NULL && i < SAFETENSORS_TYPES; i++) {
        if (strcmp(text, safetensors_type_name[i]) != 0) continue;
        t->type = (SafetensorsType)i;
        return true;
    }
    return error_set(error, "%s: tensor \"%s\" has dtype \"%s\"; convert it to F32, F64, I32, I64 or U8", path,
                     quote(name, t->name), text ? quote(type, text) : "");
}

/* The shape, and with it the size in bytes, which must not overflow. */
static bool read_shape(SafetensorsTensor *t, uint64_t *size, const json_t *entry, const char *path, Error *error) {
    char name[80];
    const json_t *shape = json_object_get(entry, "shape");
    size_t rank = json_array_size(shape);
    if (!json_is_array(shape) || rank > SAFETENSORS_MOST_DIMENSIONS)
        return error_set(error, "%s: tensor \"%s\" has no shape of at most %d dimensions; is the file damaged?", path,
                         quote(name, t->name), SAFETENSORS_MOST_DIMENSIONS);
    t->rank = (int)rank;
    *size = safetensors_type_size(t->type);
    for (size_t d = 0; d < rank; d++) {
        const json_t *length = json_array_get(shape, d);
        t->shape[d] = json_is_integer(length) ? json_integer_value(length) : -1;
        if (t->shape[d] < 0 || (t->shape[d] > 0 && *size > (uint64_t)(INT64_MAX / t->shape[d])))
            return error_set(error, "%s: tensor \"%s\" has a shape that is no list of sizes; is the file damaged?",
                             path, quote(name, t->name));
        *size *= (uint64_t)t->shape[d];
    }
    return true;
}

static bool read_place(Place *p, const char *name, const json_t *entry, uint64_t data_size, const char *path,
                       Error *error) {
    char quoted[80];
    uint64_t size = 0;
    p->tensor.name = name;
    if (!read_type(&p->tensor, entry, path, error)) return false;
    if (!read_shape(&p->tensor, &size, entry, path, error)) return false;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return error_set(error, "%s: tensor \"%s\" has no data_offsets [begin, end]; is the file damaged?", path,
                         quote(quoted, name));
    p->begin = (uint64_t)json_integer_value(begin);
    p->end = (uint64_t)json_integer_value(end);
    if (p->end > data_size)
        return error_set(error,
                         "%s: tensor \"%s\" ends at byte %llu of the data, which have only %llu; is the "
                         "file cut off?",
                         path, quote(quoted, name), (unsigned long long)p->end, (unsigned long long)data_size);
    if (p->end - p->begin != size)
        return error_set(error, "%s: tensor \"%s\" has %llu bytes where its shape needs %llu; is the file damaged?",
                         path, quote(quoted, name), (unsigned long long)(p->end - p->begin), (unsigned long long)size);
    if (p->begin % safetensors_type_size(p->tensor.type) != 0)
        return error_set(error, "%s: tensor \"%s\" is not aligned to its type; save it again with another tool", path,
                         quote(quoted, name));
    return true;
}

static int by_place(const void *a, const void *b) {
    const Place *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return strcmp(x->tensor.name, y->tensor.name);
}

/* The format allows neither overlaps nor gaps. */
static bool check_order(const Place *place, int count, uint64_t data_size, const char *path, Error *error) {
    char name[80];
    uint64_t end = 0;
    for (int i = 0; i < count; i++) {
        if (place[i].begin != end)
            return error_set(error, "%s: tensor \"%s\" %s before it; is the file damaged?", path,
                             quote(name, place[i].tensor.name),
                             place[i].begin < end ? "overlaps the one" : "leaves a gap to the one");
        end = place[i].end;
    }
    return end == data_size || error_set(error,
                                         "%s: %llu bytes after the last tensor belong to none; is the "
                                         "file damaged?",
                                         path, (unsigned long long)(data_size - end));
}

static int pair_by_key(const void *a, const void *b) {
    return strcmp(((const SafetensorsPair *)a)->key, ((const SafetensorsPair *)b)->key);
}

static int tensor_by_name(const void *a, const void *b) {
    return strcmp(((const SafetensorsTensor *)a)->name, ((const SafetensorsTensor *)b)->name);
}

static char *copy(const char *text) { return memory_text(text, strlen(text)); }

static bool read_metadata(Safetensors *file, json_t *metadata, Error *error) {
    const char *key;
    json_t *value;
    if (metadata != NULL && !json_is_object(metadata))
        return error_set(error, "%s: __metadata__ is no object; is the file damaged?", file->path);
    file->metadata = memory_alloc(json_object_size(metadata), sizeof *file->metadata, "safetensors header");
    json_object_foreach(metadata, key, value) {
        char quoted[80];
        if (!json_is_string(value))
            return error_set(error, "%s: metadata \"%s\" is no text; is the file damaged?", file->path,
                             quote(quoted, key));
        file->metadata[file->pairs++] = (SafetensorsPair){copy(key), copy(json_string_value(value))};
    }
    qsort(file->metadata, (size_t)file->pairs, sizeof *file->metadata, pair_by_key);
    return true;
}

/* Checks all entries of the header and fills file->tensor, in the order of the data. */
static bool read_tensors(Safetensors *file, json_t *header, const char *data, uint64_t data_size, Error *error) {
    const char *name;
    json_t *entry;
    int count = 0;
    bool ok = true;
    size_t most = json_object_size(header);
    Place *place = memory_alloc(most, sizeof *place, "safetensors header");
    json_object_foreach(header, name, entry) {
        if (!ok || strcmp(name, "__metadata__") == 0) continue;
        ok = read_place(&place[count++], name, entry, data_size, file->path, error);
    }
    if (ok) {
        qsort(place, (size_t)count, sizeof *place, by_place);
        ok = check_order(place, count, data_size, file->path, error);
    }
    file->tensor = memory_alloc(most, sizeof *file->tensor, "safetensors header");
    for (int i = 0; ok && i < count; i++) {
        file->tensor[i] = place[i].tensor;
        file->tensor[i].name = copy(place[i].tensor.name);
        file->tensor[i].data = data + place[i].begin;
        file->tensors++;
    }
    memory_free(place);
    return ok;
}

static bool verify_checksum(const Safetensors *file, Error *error) {
    const char *stored = safetensors_metadata(file, SAFETENSORS_CHECKSUM_KEY);
    char computed[17], quoted[80];
    if (stored == NULL) return true; /* another tool's file */
    safetensors_checksum(computed, file->tensor, file->tensors, file->metadata, file->pairs);
    return strcmp(stored, computed) == 0 ||
           error_set(error,
                     "%s: the content has checksum %s, but %s was stored with it; the file is damaged: use "
                     "a copy or the state before",
                     file->path, computed, quote(quoted, stored));
}

/* The header as JSON, and where the data start. NULL and an error if there is none. */
static json_t *read_header(uint64_t *start, const char *bytes, size_t size, const char *path, Error *error) {
    uint64_t length = 0;
    if (size >= 8) memcpy(&length, bytes, 8);
    if (size >= 8 && length > SAFETENSORS_MOST_HEADER && length < (UINT64_C(1) << 56)) {
        error_set(error, "%s: its header of %llu bytes is more than the %d allowed; is it a safetensors file?", path,
                  (unsigned long long)length, SAFETENSORS_MOST_HEADER);
        return NULL;
    }
    if (size < 8 || length > size - 8) {
        error_set(error, "%s: has %zu bytes, too few for its header; is it a safetensors file, or cut off?", path,
                  size);
        return NULL;
    }
    json_error_t reason;
    json_t *header = json_loadb(bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &reason);
    if (json_is_object(header)) {
        *start = 8 + length;
        return header;
    }
    char quoted[80];
    error_set(error, "%s: its header is no JSON object (%s); is it a safetensors file, or damaged?", path,
              header ? "but a list" : quote(quoted, reason.text));
    json_decref(header);
    return NULL;
}

bool safetensors_read(Safetensors *file, const char *path, Error *error) {
    size_t size;
    uint64_t start = 0;
    *file = (Safetensors){0};
    char *bytes = file_read(path, SIZE_MAX / 4, &size, error);
    if (bytes == NULL) return false;
    file->bytes = bytes;
    file->path = copy(path);
    json_t *header = read_header(&start, bytes, size, path, error);
    /* Another tool may not have padded its header; the header's text is no longer needed. */
    char *data = bytes;
    if (header != NULL && start % 8 != 0) memmove(data, bytes + start, size - start);
    if (header != NULL && start % 8 == 0) data = bytes + start;
    bool ok = header != NULL && read_metadata(file, json_object_get(header, "__metadata__"), error) &&
              read_tensors(file, header, data, size - start, error) && verify_checksum(file, error);
    json_decref(header);
    if (ok)
        qsort(file->tensor, (size_t)file->tensors, sizeof *file->tensor, tensor_by_name);
    else
        safetensors_free(file);
    return ok;
}

void safetensors_free(Safetensors *file) {
    for (int i = 0; i < file->tensors; i++) memory_free((void *)file->tensor[i].name);
    for (int i = 0; i < file->pairs; i++) {
        memory_free((void *)file->metadata[i].key);
        memory_free((void *)file->metadata[i].value);
    }
    memory_free(file->tensor);
    memory_free(file->metadata);
    memory_free(file->bytes);
    memory_free(file->path);
    *file = (Safetensors){0};
}

const SafetensorsTensor *safetensors_find(const Safetensors *file, const char *name) {
    SafetensorsTensor wanted = {.name = name};
    if (file->tensors == 0) return NULL;
    return bsearch(&wanted, file->tensor, (size_t)file->tensors, sizeof wanted, tensor_by_name);
}

const char *safetensors_metadata(const Safetensors *file, const char *key) {
    SafetensorsPair wanted = {key, NULL};
    if (file->pairs == 0) return NULL;
    const SafetensorsPair *pair = bsearch(&wanted, file->metadata, (size_t)file->pairs, sizeof wanted, pair_by_key);
    return pair ? pair->value : NULL;
}

/* "[2, 3]" */
static const char *shape_text(char out[256], int rank, const int64_t *shape) {
    size_t used = (size_t)snprintf(out, 256, "[");
    for (int d = 0; d < rank && used < 220; d++)
        used += (size_t)snprintf(out + used, 256 - used, "%s%lld", d ? ", " : "", (long long)shape[d]);
    snprintf(out + used, 256 - used, "]");
    return out;
}

bool safetensors_copy(real *out, const Safetensors *file, const char *name, int rank, const int64_t *shape,
                      Error *error) {
    const SafetensorsTensor *t = safetensors_find(file, name);
    char has[256], wants[256];
    if (t == NULL)
        return error_set(error, "%s: has no tensor \"%s\"; does it belong to this configuration?", file->path, name);
    if (t->rank != rank || (rank > 0 && memcmp(t->shape, shape, (size_t)rank * sizeof *shape) != 0))
        return error_set(error,
                         "%s: tensor \"%s\" has shape %s, but this configuration needs %s; use the file's "
                         "own configuration",
                         file->path, name, shape_text(has, t->rank, t->shape), shape_text(wants, rank, shape));
    if (t->type != SAFETENSORS_F32 && t->type != SAFETENSORS_F64)
        return error_set(error, "%s: tensor \"%s\" has dtype %s, but F32 or F64 is needed; convert it", file->path,
                         name, safetensors_type_name[t->type]);
    int64_t count = safetensors_count(t);
    if (t->type == SAFETENSORS_F32) {
        const float *x = t->data;
        for (int64_t i = 0; i < count; i++) out[i] = (real)x[i];
    } else {
        const double *x = t->data;
        for (int64_t i = 0; i < count; i++) out[i] = (real)x[i];
    }
    return true;
}
