#include "tokenizer/vocabulary.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/batch.h"
#include "base/memory.h"
#include "base/rng.h"

Tokenizer *vocabulary_new(Normalization normalization, bool lowercase) {
    Tokenizer *tokenizer = memory_alloc(1, sizeof *tokenizer, "tokenizer");
    tokenizer->normalization = normalization;
    tokenizer->lowercase = lowercase;
    return tokenizer;
}

void tokenizer_free(Tokenizer *tokenizer) {
    if (tokenizer == NULL) return;
    string_map_free(&tokenizer->pieces);
    pair_map_free(&tokenizer->merge_rank);
    memory_free(tokenizer->merges);
    memory_free(tokenizer);
}

const char *vocabulary_fixed_piece(int id, char buffer[8]) {
    static const char *const special[] = {[ID_BOS] = "<s>", [ID_PAD] = "<pad>", [ID_EOS] = "</s>", [ID_UNK] = "<unk>"};
    if (id < ID_FIRST_BYTE) return special[id];
    snprintf(buffer, 8, "<0x%02X>", (unsigned)(id - ID_FIRST_BYTE) & 0xFF);
    return buffer;
}

void vocabulary_add_fixed_pieces(Tokenizer *tokenizer) {
    char buffer[8];
    for (int id = 0; id < ID_FIRST_PIECE; id++) {
        const char *piece = vocabulary_fixed_piece(id, buffer);
        string_map_add(&tokenizer->pieces, piece, strlen(piece));
    }
}

void vocabulary_add_merge(Tokenizer *tokenizer, Merge merge) {
    if (tokenizer->merge_count == tokenizer->merge_capacity) {
        int capacity = tokenizer->merge_count ? tokenizer->merge_count * 2 : 1024;
        tokenizer->merges = memory_grow(tokenizer->merges, (size_t)tokenizer->merge_count, (size_t)capacity,
                                        sizeof *tokenizer->merges, "merges of the tokenizer");
        tokenizer->merge_capacity = capacity;
    }
    pair_map_add(&tokenizer->merge_rank, merge.left, merge.right, tokenizer->merge_count);
    tokenizer->merges[tokenizer->merge_count++] = merge;
}

int vocabulary_join(Tokenizer *tokenizer, int left, int right, bool add) {
    StringMap *pieces = &tokenizer->pieces;
    size_t left_length = pieces->entries[left].length, right_length = pieces->entries[right].length;
    char on_stack[256], *joined = on_stack;
    if (left_length + right_length > sizeof on_stack)
        joined = memory_alloc(left_length + right_length, 1, "piece of a tokenizer");
    memcpy(joined, string_map_text(pieces, left), left_length);
    memcpy(joined + left_length, string_map_text(pieces, right), right_length);
    int id = add ? string_map_add(pieces, joined, left_length + right_length)
                 : string_map_find(pieces, joined, left_length + right_length);
    if (joined != on_stack) memory_free(joined);
    return id;
}

int tokenizer_vocab_size(const Tokenizer *tokenizer) { return tokenizer->pieces.count; }

const char *tokenizer_piece(const Tokenizer *tokenizer, int id) {
    assert(id >= 0 && id < tokenizer->pieces.count);
    return string_map_text(&tokenizer->pieces, id);
}

int tokenizer_id(const Tokenizer *tokenizer, const char *piece) {
    return string_map_find(&tokenizer->pieces, piece, strlen(piece));
}

uint64_t tokenizer_hash(const Tokenizer *tokenizer) {
    uint64_t hash = hash_fold((uint64_t)tokenizer->normalization,
                              (uint64_t)tokenizer->lowercase | (uint64_t)tokenizer->whole_words << 1);
    hash = hash_fold(hash, (uint64_t)tokenizer->pieces.count);
    for (int id = 0; id < tokenizer->pieces.count; id++) {
        const char *piece = string_map_text(&tokenizer->pieces, id);
        for (uint32_t i = 0; i <= tokenizer->pieces.entries[id].length; i++) /* with its final NUL */
            hash = hash_fold(hash, (unsigned char)piece[i]);
    }
    for (int rank = 0; rank < tokenizer->merge_count; rank++) {
        hash = hash_fold(hash, (uint64_t)tokenizer->merges[rank].left);
        hash = hash_fold(hash, (uint64_t)tokenizer->merges[rank].right);
    }
    return hash;
}
