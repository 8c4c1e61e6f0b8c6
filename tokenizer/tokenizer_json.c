/* Writing tokenizer.json, the format of Hugging Face tokenizers. */
#include "tokenizer/tokenizer_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

/* clang-format off */
json_t *json_normalizer(Normalization normalization, bool lowercase) {
    json_t *steps = json_array();
    if (normalization == NORMALIZATION_NFC) json_array_append_new(steps, json_pack("{s:s}", "type", "NFC"));
    if (normalization == NORMALIZATION_NFKC) json_array_append_new(steps, json_pack("{s:s}", "type", "NFKC"));
    if (lowercase) json_array_append_new(steps, json_pack("{s:s}", "type", "Lowercase"));
    json_array_append_new(steps, json_pack("{s:s, s:s}", "type", "Prepend", "prepend", WORD_MARK));
    json_array_append_new(steps, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace",
                                           "pattern", "String", " ", "content", WORD_MARK));
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

json_t *json_pre_tokenizer(void) {
    return json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", WORD_MARK,
                     "prepend_scheme", "never", "split", 1);
}

json_t *json_decoder(void) {
    return json_pack("{s:s, s:[o, o, o, o]}", "type", "Sequence", "decoders",
        json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String", WORD_MARK, "content", " "),
        json_pack("{s:s}", "type", "ByteFallback"),
        json_pack("{s:s}", "type", "Fuse"),
        json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start", 1, "stop", 0));
}

static json_t *json_vocab(const Tokenizer *tokenizer) {
    json_t *vocab = json_object();
    for (int id = 0; id < tokenizer->pieces.count; id++)
        json_object_set_new(vocab, string_map_text(&tokenizer->pieces, id), json_integer(id));
    return vocab;
}

static json_t *json_merges(const Tokenizer *tokenizer) {
    json_t *merges = json_array();
    for (int rank = 0; rank < tokenizer->merge_count; rank++) {
        const char *left = string_map_text(&tokenizer->pieces, tokenizer->merges[rank].left);
        const char *right = string_map_text(&tokenizer->pieces, tokenizer->merges[rank].right);
        json_array_append_new(merges, json_pack("[s, s]", left, right));
    }
    return merges;
}

/* In json_pack, n is null and takes no argument, o takes over a value. */
static json_t *json_tokenizer(const Tokenizer *tokenizer) {
    json_t *vocab = json_vocab(tokenizer), *merges = json_merges(tokenizer);
    bool whole = json_object_size(vocab) == (size_t)tokenizer->pieces.count &&
                 json_array_size(merges) == (size_t)tokenizer->merge_count;
    json_t *model = json_pack("{s:s, s:n, s:s, s:n, s:n, s:b, s:b, s:b, s:o, s:o}",
        "type", "BPE",
        "dropout",
        "unk_token", "<unk>",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "fuse_unk", 0,
        "byte_fallback", 1,
        "ignore_merges", tokenizer->whole_words,
        "vocab", vocab,
        "merges", merges);
    json_t *root = json_pack("{s:s, s:n, s:n, s:[], s:o, s:o, s:n, s:o, s:o}",
        "version", "1.0",
        "truncation",
        "padding",
        "added_tokens",
        "normalizer", json_normalizer(tokenizer->normalization, tokenizer->lowercase),
        "pre_tokenizer", json_pre_tokenizer(),
        "post_processor",
        "decoder", json_decoder(),
        "model", model);
    if (whole) return root;
    json_decref(root);
    return NULL; /* there was no memory for a piece or a merge */
}
/* clang-format on */

bool tokenizer_save(const Tokenizer *tokenizer, const char *path, Error *error) {
    json_t *json = json_tokenizer(tokenizer);
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    json_decref(json);
    if (text == NULL) return error_set(error, "%s: no memory to write the tokenizer; free some", path);
    bool saved = file_write(path, text, strlen(text), error);
    free(text);
    return saved;
}
