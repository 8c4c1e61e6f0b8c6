#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "run/checksum.h"
#include "run/safetensors.h"
#include "run/safetensors_checksum.h"

const char *const safetensors_type_name[SAFETENSORS_TYPES] = {"F32", "F64", "I32", "I64", "U8"};

size_t safetensors_type_size(SafetensorsType type) {
    static const size_t size[SAFETENSORS_TYPES] = {4, 8, 4, 8, 1};
    return size[type];
}

int64_t safetensors_count(const SafetensorsTensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->shape[i];
    return count;
}

static size_t data_size(const SafetensorsTensor *tensor) {
    return (size_t)safetensors_count(tensor) * safetensors_type_size(tensor->type);
}

static void add_number(Checksum *c, int64_t number) { checksum_add(c, &number, sizeof number); }
static void add_text(Checksum *c, const char *text) { checksum_add(c, text, strlen(text) + 1); }

void safetensors_checksum(char out[17], const SafetensorsTensor *tensor, int tensors, const SafetensorsPair *pair,
                          int pairs) {
    Checksum c;
    checksum_start(&c);
    for (int i = 0; i < tensors; i++) checksum_add(&c, tensor[i].data, data_size(&tensor[i]));
    for (int i = 0; i < tensors; i++) {
        add_text(&c, tensor[i].name);
        add_text(&c, safetensors_type_name[tensor[i].type]);
        add_number(&c, tensor[i].rank);
        for (int d = 0; d < tensor[i].rank; d++) add_number(&c, tensor[i].shape[d]);
    }
    for (int i = 0; i < pairs; i++) {
        if (strcmp(pair[i].key, SAFETENSORS_CHECKSUM_KEY) == 0) continue;
        add_text(&c, pair[i].key);
        add_text(&c, pair[i].value);
    }
    snprintf(out, 17, "%016llx", (unsigned long long)checksum_finish(&c));
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const SafetensorsPair *)a)->key, ((const SafetensorsPair *)b)->key);
}

/* The caller's pairs and ours, by key. */
static SafetensorsPair *all_pairs(const SafetensorsTensor *tensor, int tensors, const SafetensorsPair *metadata,
                                  int pairs, char checksum[17]) {
    SafetensorsPair *all = memory_alloc((size_t)pairs + 2, sizeof *all, "safetensors header");
    if (pairs > 0) memcpy(all, metadata, (size_t)pairs * sizeof *all);
    all[pairs] = (SafetensorsPair){"format", "pt"};
    all[pairs + 1] = (SafetensorsPair){SAFETENSORS_CHECKSUM_KEY, checksum};
    qsort(all, (size_t)pairs + 2, sizeof *all, by_key);
    for (int i = 0; i < pairs + 1; i++) assert(strcmp(all[i].key, all[i + 1].key) != 0);
    safetensors_checksum(checksum, tensor, tensors, all, pairs + 2);
    return all;
}

/* Wider types first, each type in the caller's order: so every tensor is aligned without a gap. Neighbours
 * without elements share one offset, so a reader cannot know their order: they go by name. */
static SafetensorsTensor *in_data_order(const SafetensorsTensor *tensor, int tensors) {
    SafetensorsTensor *sorted = memory_alloc((size_t)tensors, sizeof *sorted, "safetensors header");
    int used = 0;
    for (size_t size = 8; size >= 1; size /= 2)
        for (int i = 0; i < tensors; i++) {
            if (safetensors_type_size(tensor[i].type) != size) continue;
            int place = used++;
            for (; place > 0 && data_size(&tensor[i]) == 0 && data_size(&sorted[place - 1]) == 0; place--) {
                if (strcmp(sorted[place - 1].name, tensor[i].name) < 0) break;
                sorted[place] = sorted[place - 1];
            }
            sorted[place] = tensor[i];
        }
    return sorted;
}

/* object[key] = value; takes the value. */
static bool set(json_t *object, const char *key, json_t *value) {
    return value != NULL && json_object_set_new(object, key, value) == 0;
}

static json_t *describe(const SafetensorsTensor *tensor, size_t offset) {
    json_t *entry = json_object(), *shape = json_array();
    for (int d = 0; d < tensor->rank; d++) json_array_append_new(shape, json_integer(tensor->shape[d]));
    set(entry, "dtype", json_string(safetensors_type_name[tensor->type]));
    set(entry, "shape", shape);
    set(entry, "data_offsets", json_pack("[I, I]", (json_int_t)offset, (json_int_t)(offset + data_size(tensor))));
    return entry;
}

/* The JSON of the header, padded; from memory_alloc. NULL and an error for text that is no UTF-8. */
static char *header_text(const char *path, const SafetensorsTensor *tensor, int tensors, const SafetensorsPair *pair,
                         int pairs, Error *error) {
    json_t *header = json_object(), *metadata = json_object();
    const char *bad = NULL;
    for (int i = 0; i < pairs && bad == NULL; i++)
        if (!set(metadata, pair[i].key, json_string(pair[i].value))) bad = pair[i].key;
    set(header, "__metadata__", metadata);
    size_t offset = 0;
    for (int i = 0; i < tensors && bad == NULL; i++) {
        assert(json_object_get(header, tensor[i].name) == NULL);
        if (!set(header, tensor[i].name, describe(&tensor[i], offset))) bad = tensor[i].name;
        offset += data_size(&tensor[i]);
    }
    char *text = NULL;
    if (bad != NULL) {
        error_set(error, "%s: the header entry \"%s\" is not UTF-8 text; rename what it names", path, bad);
    } else {
        size_t length = json_dumpb(header, NULL, 0, JSON_COMPACT), padded = (length + 7) / 8 * 8;
        text = memory_alloc(padded + 1, 1, "safetensors header");
        json_dumpb(header, text, length, JSON_COMPACT);
        memset(text + length, ' ', padded - length);
    }
    json_decref(header);
    return text;
}

static bool write_parts(const char *path, const char *header, const SafetensorsTensor *tensor, int tensors,
                        Error *error) {
    FileReplacement file;
    uint64_t length = strlen(header);
    if (length > SAFETENSORS_MOST_HEADER)
        return error_set(error, "%s: a header of %llu bytes is more than the %d allowed; shorten the metadata", path,
                         (unsigned long long)length, SAFETENSORS_MOST_HEADER);
    bool ok = file_replace_begin(&file, path, error) && file_replace_write(&file, &length, sizeof length, error) &&
              file_replace_write(&file, header, length, error);
    for (int i = 0; ok && i < tensors; i++)
        ok = file_replace_write(&file, tensor[i].data, data_size(&tensor[i]), error);
    return ok && file_replace_commit(&file, error);
}

bool safetensors_write(const char *path, const SafetensorsTensor *tensor, int tensors, const SafetensorsPair *metadata,
                       int pairs, Error *error) {
    char checksum[17];
    SafetensorsTensor *sorted = in_data_order(tensor, tensors);
    SafetensorsPair *all = all_pairs(sorted, tensors, metadata, pairs, checksum);
    char *header = header_text(path, sorted, tensors, all, pairs + 2, error);
    bool ok = header != NULL && write_parts(path, header, sorted, tensors, error);
    memory_free(header);
    memory_free(all);
    memory_free(sorted);
    return ok;
}
