/* Decoding, step by step what the decoder of tokenizer.json says: Replace, ByteFallback, Fuse, Strip. */
#include <assert.h>
#include <string.h>

#include "base/batch.h"
#include "base/memory.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

/* Most bytes that an id can add: its piece, or U+FFFD for a byte. */
static size_t most_bytes(const Tokenizer *tokenizer, int id) {
    return id < ID_FIRST_PIECE ? sizeof REPLACEMENT - 1 : tokenizer->pieces.entries[id].length;
}

/* A piece with " " for "▁". */
static size_t put_piece(char *out, const Tokenizer *tokenizer, int id) {
    const char *piece = string_map_text(&tokenizer->pieces, id);
    size_t length = tokenizer->pieces.entries[id].length, used = 0;
    for (size_t i = 0; i < length;) {
        bool mark = strncmp(piece + i, WORD_MARK, sizeof WORD_MARK - 1) == 0;
        out[used++] = mark ? ' ' : piece[i];
        i += mark ? sizeof WORD_MARK - 1 : 1;
    }
    return used;
}

/* The byte tokens at the start of ids, of which there are *taken with special ids between them skipped: their
 * bytes if these are UTF-8, else U+FFFD for each. Returns the number of bytes written. */
static size_t put_bytes(char *out, const int *ids, int count, int *taken) {
    size_t bytes = 0;
    int i = 0;
    for (; i < count && ids[i] < ID_FIRST_PIECE; i++)
        if (ids[i] >= ID_FIRST_BYTE) out[bytes++] = (char)(ids[i] - ID_FIRST_BYTE);
    *taken = i;
    if (utf8_valid(out, bytes)) return bytes;
    for (size_t b = 0; b < bytes; b++) memcpy(out + b * 3, REPLACEMENT, 3);
    return bytes * 3;
}

char *tokenizer_decode(const Tokenizer *tokenizer, const int *ids, int count, size_t *length) {
    size_t most = 1, used = 0;
    for (int i = 0; i < count; i++) {
        assert(ids[i] >= 0 && ids[i] < tokenizer->pieces.count);
        most += most_bytes(tokenizer, ids[i]);
    }
    char *text = memory_alloc(most, 1, "decoded text");
    for (int i = 0, taken = 1; i < count; i += taken) {
        taken = 1;
        used += ids[i] < ID_FIRST_PIECE ? put_bytes(text + used, ids + i, count - i, &taken)
                                        : put_piece(text + used, tokenizer, ids[i]);
    }
    if (used > 0 && text[0] == ' ') memmove(text, text + 1, --used);
    text[used] = '\0';
    if (length) *length = used;
    return text;
}
