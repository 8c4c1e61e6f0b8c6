#include "training/corpus_cache.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <utf8proc.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/version.h"
#include "run/checksum.h"
#include "run/safetensors.h"

#define KEY_NAME "tandem.corpus"

static void add_lines(Checksum *c, const Lines *lines) {
    checksum_add(c, &lines->count, sizeof lines->count);
    for (size_t i = 0; i < lines->count; i++) {
        checksum_add(c, &lines->line[i].length, sizeof lines->line[i].length);
        checksum_add(c, lines->line[i].text, lines->line[i].length);
    }
}

CorpusKey corpus_key(const ParallelText *text, const Tokenizer *source, const Tokenizer *target) {
    const char *const version[2] = {TANDEM_VERSION, utf8proc_unicode_version()};
    uint64_t tokenizers[2] = {tokenizer_hash(source), target == source ? 0 : tokenizer_hash(target)};
    Checksum lines, rules;
    CorpusKey key;
    checksum_start(&lines);
    add_lines(&lines, &text->source);
    add_lines(&lines, &text->target);
    checksum_start(&rules);
    checksum_add(&rules, tokenizers, sizeof tokenizers);
    for (int i = 0; i < 2; i++) checksum_add(&rules, version[i], strlen(version[i]) + 1);
    snprintf(key.text, sizeof key.text, "%016" PRIx64 "-%016" PRIx64, checksum_finish(&lines), checksum_finish(&rules));
    return key;
}

/* Could a file of this size hold the text? A byte becomes at most 44 bytes of ids: U+FDFA, of 3 bytes, becomes under NFKC
 * 18 characters of 33 bytes, each at worst an id of 4. What is
 * larger was made of another text, or is damaged in a way that would cost memory to find out. */
static bool size_is_possible(const char *path, const ParallelText *text) {
    const Lines *side[2] = {&text->source, &text->target};
    uintmax_t most = 1 << 16; /* the header, and the offsets' ends */
    struct stat info;
    for (int i = 0; i < 2; i++)
        for (size_t l = 0; l < side[i]->count; l++) most += 44 * side[i]->line[l].length + 64;
    return stat(path, &info) == 0 && (uintmax_t)info.st_size <= most;
}

/* The tensor, if it is a list of this type. */
static const SafetensorsTensor *find_list(const Safetensors *file, const char *name, SafetensorsType type) {
    const SafetensorsTensor *t = safetensors_find(file, name);
    return t != NULL && t->type == type && t->rank == 1 ? t : NULL;
}

static bool offsets_are_good(const int64_t *offset, int lines, int64_t ids) {
    if (offset[0] != 0 || offset[lines] != ids) return false;
    for (int i = 0; i < lines; i++)
        if (offset[i + 1] < offset[i] || offset[i + 1] - offset[i] > INT32_MAX - 1) return false;
    return true;
}

static bool ids_are_good(const int32_t *ids, int64_t count, int vocabulary) {
    for (int64_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= vocabulary) return false;
    return true;
}

/* Copies one side out of the file. On failure there is nothing to free. */
static bool read_side(CorpusSide *side, const Safetensors *file, const char *ids_name, const char *offset_name,
                      int lines, int vocabulary) {
    const SafetensorsTensor *ids = find_list(file, ids_name, SAFETENSORS_I32);
    const SafetensorsTensor *offset = find_list(file, offset_name, SAFETENSORS_I64);
    if (ids == NULL || offset == NULL || offset->shape[0] != (int64_t)lines + 1 ||
        !offsets_are_good(offset->data, lines, ids->shape[0]) || !ids_are_good(ids->data, ids->shape[0], vocabulary))
        return false;
    size_t count = (size_t)ids->shape[0], offsets = (size_t)lines + 1;
    side->ids = (IdList){memory_alloc(count, sizeof(int), "corpus ids"), count, count};
    side->offset = memory_alloc(offsets, sizeof *side->offset, "corpus offsets");
    if (count > 0) memcpy(side->ids.ids, ids->data, count * sizeof(int));
    memcpy(side->offset, offset->data, offsets * sizeof *side->offset);
    return true;
}

/* "tandem.checksum" was verified by safetensors_read if it is there: here it must be. */
static CacheState read_corpus(Corpus *corpus, const Safetensors *file, const CorpusKey *key, int lines, int source_size,
                              int target_size) {
    const char *saved = safetensors_metadata(file, KEY_NAME);
    if (saved == NULL || safetensors_metadata(file, "tandem.checksum") == NULL) return CACHE_DAMAGED;
    if (strcmp(saved, key->text) != 0) return CACHE_NONE;
    Corpus c = {.pairs = lines, .lines = lines};
    if (!read_side(&c.source, file, "source.ids", "source.offset", lines, source_size) ||
        !read_side(&c.target, file, "target.ids", "target.offset", lines, target_size)) {
        corpus_free(&c);
        return CACHE_DAMAGED;
    }
    c.line = memory_alloc((size_t)lines, sizeof *c.line, "corpus line numbers");
    for (int i = 0; i < lines; i++) c.line[i] = i;
    *corpus = c;
    return CACHE_GOOD;
}

CacheState corpus_cache_load(Corpus *corpus, const char *path, const CorpusKey *key, const ParallelText *text,
                             const Tokenizer *source, const Tokenizer *target) {
    Safetensors file;
    Error error; /* says what is wrong; that something is, is enough here */
    if (!file_exists(path) || !size_is_possible(path, text)) return CACHE_NONE;
    if (!safetensors_read(&file, path, &error)) return CACHE_DAMAGED;
    CacheState state = read_corpus(corpus, &file, key, (int)text->source.count, tokenizer_vocab_size(source),
                                   tokenizer_vocab_size(target));
    safetensors_free(&file);
    return state;
}

bool corpus_cache_save(const Corpus *c, const char *path, const CorpusKey *key, Error *error) {
    assert(c->pairs == c->lines && sizeof(int) == sizeof(int32_t));
    static const char *const name[4] = {"source.ids", "source.offset", "target.ids", "target.offset"};
    const CorpusSide *side[2] = {&c->source, &c->target};
    static const int none = 0;
    SafetensorsTensor tensor[4];
    for (int i = 0; i < 2; i++) {
        const void *ids = side[i]->ids.count > 0 ? side[i]->ids.ids : &none;
        tensor[2 * i] = (SafetensorsTensor){name[2 * i], SAFETENSORS_I32, 1, {(int64_t)side[i]->ids.count}, ids};
        tensor[2 * i + 1] =
            (SafetensorsTensor){name[2 * i + 1], SAFETENSORS_I64, 1, {(int64_t)c->lines + 1}, side[i]->offset};
    }
    SafetensorsPair pair = {KEY_NAME, key->text};
    return safetensors_write(path, tensor, 4, &pair, 1, error);
}
