/* Reading tokenizer.json. Its bytes may be anything, so nothing is believed: what Tandem does differently from
 * what the file asks for would give other ids than the library's, and is refused by name. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/batch.h"
#include "base/memory.h"
#include "tokenizer/tokenizer_json.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

typedef struct Loader {
    const char *path;
    Error *error;
    Tokenizer *tokenizer;
} Loader;

/* "path: fact; remedy". Returns false. */
static bool fail(const Loader *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const Loader *l, const char *format, ...) {
    char fact[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(fact, sizeof fact, format, args);
    va_end(args);
    return error_set(l->error, "%s: %s", l->path, fact);
}

/* ---- settings ---- */

static bool is_string(const json_t *json, const char *text) {
    return json_is_string(json) && strcmp(json_string_value(json), text) == 0;
}

/* What the file says at a place, and what it should say. */
static void fail_part(const Loader *l, const char *part, const json_t *found, const json_t *expected) {
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII;
    char *is = found ? json_dumps(found, flags) : NULL, *should = json_dumps(expected, flags);
    fail(l, "%s is %.200s; Tandem reads only files with %.400s there", part, is ? is : "missing", should ? should : "");
    free(is);
    free(should);
}

/* Whether a part is as expected, which is freed. A Sequence, its steps under `list`, is compared step by step,
 * to name the one that differs. */
static bool check_part(const Loader *l, const char *part, const json_t *found, json_t *expected, const char *list) {
    bool same = json_equal(found, expected);
    const json_t *steps = list ? json_object_get(found, list) : NULL;
    const json_t *wanted = list ? json_object_get(expected, list) : NULL;
    size_t i = 0;
    while (i < json_array_size(wanted) && json_equal(json_array_get(steps, i), json_array_get(wanted, i))) i++;
    if (!same && json_array_get(steps, i) && json_array_get(wanted, i)) {
        char step[80];
        snprintf(step, sizeof step, "%s.%s[%zu]", part, list, i);
        fail_part(l, step, json_array_get(steps, i), json_array_get(wanted, i));
    } else if (!same) {
        fail_part(l, part, found, expected);
    }
    json_decref(expected);
    return same;
}

/* ignore_merges and the optional first steps of the normalizer are settings; the rest is fixed. */
static bool read_settings(Loader *l, const json_t *root) {
    const json_t *normalizer = json_object_get(root, "normalizer");
    const json_t *steps = json_object_get(normalizer, "normalizers");
    size_t i = 0;
    const json_t *type = json_object_get(json_array_get(steps, i), "type");
    Normalization form = is_string(type, "NFC")    ? NORMALIZATION_NFC
                         : is_string(type, "NFKC") ? NORMALIZATION_NFKC
                                                   : NORMALIZATION_NONE;
    if (form != NORMALIZATION_NONE) type = json_object_get(json_array_get(steps, ++i), "type");
    bool lowercase = is_string(type, "Lowercase");
    l->tokenizer = vocabulary_new(form, lowercase);
    l->tokenizer->whole_words = json_is_true(json_object_get(json_object_get(root, "model"), "ignore_merges"));
    return check_part(l, "normalizer", normalizer, json_normalizer(form, lowercase), "normalizers");
}

static bool check_unused(const Loader *l, const json_t *root) {
    static const char *const unused[] = {"truncation", "padding", "post_processor"};
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        const json_t *value = json_object_get(root, unused[i]);
        if (value && !json_is_null(value))
            return fail(l, "%s is set, which Tandem does not apply; set it to null", unused[i]);
    }
    const json_t *added = json_object_get(root, "added_tokens");
    if (added && !json_is_null(added) && !(json_is_array(added) && json_array_size(added) == 0))
        return fail(l, "added_tokens is not an empty list; keep special pieces in model.vocab only, so that their "
                       "names are ordinary text");
    return true;
}

static bool check_model(const Loader *l, const json_t *model) {
    static const struct {
        const char *key, *allowed; /* a space on each side of each */
    } settings[] = {
        {"type", " \"BPE\" "},
        {"dropout", " missing null "},
        {"unk_token", " missing null \"<unk>\" "},
        {"continuing_subword_prefix", " missing null \"\" "},
        {"end_of_word_suffix", " missing null \"\" "},
        {"fuse_unk", " missing true false "},
        {"byte_fallback", " true "},
        {"ignore_merges", " missing false true "},
    };
    if (!json_is_object(model)) return fail(l, "there is no object model; this is no tokenizer.json");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const json_t *value = json_object_get(model, settings[i].key);
        char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
        char shown[32];
        snprintf(shown, sizeof shown, " %.28s ", text ? text : "missing");
        free(text);
        if (strstr(settings[i].allowed, shown) == NULL)
            return fail(l, "model.%s is%s; Tandem reads only:%s", settings[i].key, shown, settings[i].allowed);
    }
    return true;
}

/* ---- pieces ---- */

/* Whether the library's decoder takes the piece for a byte. It reads the two digits with Rust's
 * from_str_radix, which allows a plus sign. */
static bool looks_like_byte(const char *piece) {
    const char *hex = "0123456789abcdefABCDEF";
    return strlen(piece) == 6 && strncmp(piece, "<0x", 3) == 0 && piece[5] == '>' &&
           (strchr(hex, piece[3]) || piece[3] == '+') && strchr(hex, piece[4]);
}

/* The pieces in order of their ids, which must be 0 .. n-1. */
static bool sort_pieces(const Loader *l, json_t *vocab, const char **pieces) {
    size_t n = json_object_size(vocab);
    const char *piece;
    json_t *value;
    json_object_foreach(vocab, piece, value) {
        json_int_t id = json_integer_value(value);
        if (!json_is_integer(value) || id < 0 || (size_t)id >= n)
            return fail(
                l, "model.vocab: a piece has an id that is not one of 0 .. %zu; number the %zu pieces without a gap",
                n - 1, n);
        if (pieces[id])
            return fail(l, "model.vocab: two pieces have id %lld; number the pieces without a gap", (long long)id);
        if (piece[0] == '\0') return fail(l, "model.vocab: the piece of id %lld is empty", (long long)id);
        pieces[id] = piece;
    }
    return true;
}

static bool add_pieces(Loader *l, const char *const *pieces, size_t count) {
    char buffer[8];
    for (size_t id = 0; id < count; id++) {
        const char *fixed = id < ID_FIRST_PIECE ? vocabulary_fixed_piece((int)id, buffer) : NULL;
        if (fixed && strcmp(pieces[id], fixed) != 0)
            return fail(l,
                        "model.vocab: id %zu is not %s; ids 0 to 3 must be <s> <pad> </s> <unk> and 4 to 259 the byte "
                        "tokens in order",
                        id, fixed);
        if (!fixed && looks_like_byte(pieces[id]))
            return fail(l,
                        "model.vocab: the piece of id %zu reads as a byte token, which has its place in ids 4 to 259; "
                        "remove it",
                        id);
        string_map_add(&l->tokenizer->pieces, pieces[id], strlen(pieces[id]));
    }
    if (tokenizer_id(l->tokenizer, WORD_MARK) < 0)
        return fail(l, "model.vocab: the piece \"" WORD_MARK "\" is missing, without which spaces are lost");
    return true;
}

static bool read_vocab(Loader *l, json_t *vocab) {
    size_t count = json_object_size(vocab);
    if (!json_is_object(vocab) || count < SMALLEST_VOCABULARY || count > INT32_MAX / 2)
        return fail(l, "model.vocab is not an object of at least %d pieces", SMALLEST_VOCABULARY);
    const char **pieces = memory_alloc(count, sizeof *pieces, "pieces of a tokenizer");
    bool read = sort_pieces(l, vocab, pieces) && add_pieces(l, pieces, count);
    memory_free(pieces);
    return read;
}

/* ---- merges ---- */

/* Left and right of ["a", "b"] or "a b"; -1 for what is no piece. False if it is neither form. */
static bool merge_ids(const Tokenizer *tokenizer, const json_t *json, int *left, int *right) {
    if (json_is_array(json) && json_array_size(json) == 2) {
        const char *a = json_string_value(json_array_get(json, 0));
        const char *b = json_string_value(json_array_get(json, 1));
        if (a == NULL || b == NULL) return false;
        *left = tokenizer_id(tokenizer, a);
        *right = tokenizer_id(tokenizer, b);
        return true;
    }
    const char *text = json_string_value(json), *space = text ? strchr(text, ' ') : NULL;
    if (space == NULL || strchr(space + 1, ' ')) return false;
    *left = string_map_find(&tokenizer->pieces, text, (size_t)(space - text));
    *right = tokenizer_id(tokenizer, space + 1);
    return true;
}

static bool read_merges(Loader *l, const json_t *merges) {
    Tokenizer *t = l->tokenizer;
    if (!json_is_array(merges)) return fail(l, "model.merges is not a list; without merges write []");
    size_t count = json_array_size(merges);
    for (size_t i = 0; i < count; i++) {
        Merge merge;
        if (!merge_ids(t, json_array_get(merges, i), &merge.left, &merge.right))
            return fail(l, "model.merges[%zu] is not [\"left\", \"right\"] or \"left right\"", i);
        if (merge.left < 0 || merge.right < 0)
            return fail(l, "model.merges[%zu]: its %s part is not in model.vocab", i,
                        merge.left < 0 ? "left" : "right");
        if (pair_map_find(&t->merge_rank, merge.left, merge.right) >= 0)
            return fail(l, "model.merges[%zu] is there twice; keep the first", i);
        merge.result = vocabulary_join(t, merge.left, merge.right, false);
        if (merge.result < 0) return fail(l, "model.merges[%zu]: its result is not in model.vocab", i);
        vocabulary_add_merge(t, merge);
    }
    return true;
}

/* ---- the file ---- */

static bool read_root(Loader *l, const json_t *root) {
    if (!json_is_object(root)) return fail(l, "it holds no JSON object; this is no tokenizer.json");
    const json_t *model = json_object_get(root, "model");
    return check_model(l, model) && check_unused(l, root) && read_settings(l, root) &&
           check_part(l, "pre_tokenizer", json_object_get(root, "pre_tokenizer"), json_pre_tokenizer(), NULL) &&
           check_part(l, "decoder", json_object_get(root, "decoder"), json_decoder(), "decoders") &&
           read_vocab(l, json_object_get(model, "vocab")) && read_merges(l, json_object_get(model, "merges"));
}

Tokenizer *tokenizer_load(const char *path, Error *error) {
    Loader l = {.path = path, .error = error};
    struct stat status;
    json_error_t where;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        fail(&l, "it is no regular file; name the tokenizer.json of a run");
        return NULL;
    }
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL) {
        if (where.line < 0)
            fail(&l, "%s; check the name and the permissions", where.text);
        else
            fail(&l, "line %d: %s; this is not valid JSON: write it again", where.line, where.text);
        return NULL;
    }
    bool read = read_root(&l, root);
    json_decref(root);
    if (read) return l.tokenizer;
    tokenizer_free(l.tokenizer);
    return NULL;
}
