/* Learning from any text, and encoding and decoding any other.
 * Input: a byte of settings, a byte of dropout, then the text to learn from, 0xFE, and the text to encode. */
#include <string.h>

#include "base/batch.h"
#include "base/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tokenizer/normalize.h"
#include "tokenizer/utf8.h"

/* What has to come back: the normalised text without its first mark, the others as spaces. */
static char *expected_text(const TokenizerOptions *o, const char *text, size_t length, size_t *expected) {
    Normalizer n = {.form = o->normalization, .lowercase = o->lowercase};
    normalize(&n, text, length);
    char *out = memory_alloc(n.length + 1, 1, "expected text");
    const size_t mark = sizeof WORD_MARK - 1;
    *expected = 0;
    for (size_t i = n.length > 0 ? mark : 0; i < n.length;) {
        bool space = i + mark <= n.length && memcmp(n.text + i, WORD_MARK, mark) == 0;
        out[(*expected)++] = space ? ' ' : n.text[i];
        i += space ? mark : 1;
    }
    normalizer_free(&n);
    return out;
}

/* With no normalisation, valid text without a literal mark is what has to come back: said without the normaliser. */
static bool lossless(const TokenizerOptions *o, const char *text, size_t length) {
    return o->normalization == NORMALIZATION_NONE && !o->lowercase && utf8_valid(text, length) &&
           memmem(text, length, WORD_MARK, sizeof WORD_MARK - 1) == NULL;
}

static void check_text(const Tokenizer *tokenizer, const TokenizerOptions *o, double dropout, const char *text,
                       size_t length) {
    for (int id = 0; id < tokenizer_vocab_size(tokenizer); id++)
        FUZZ_CHECK(utf8_valid(tokenizer_piece(tokenizer, id), strlen(tokenizer_piece(tokenizer, id))));
    TextEncoder *encoder = text_encoder_new(tokenizer);
    IdList ids = {0};
    size_t expected_length, back_length;
    char *expected = expected_text(o, text, length, &expected_length);
    for (int repeat = 0; repeat < 3; repeat++) { /* anew, out of the cache, with dropout */
        ids.count = 0;
        if (repeat < 2)
            tokenizer_encode(encoder, text, length, &ids);
        else
            tokenizer_encode_dropout(encoder, text, length, dropout, 1, &ids);
        for (size_t i = 0; i < ids.count; i++)
            FUZZ_CHECK(ids.ids[i] >= ID_FIRST_BYTE && ids.ids[i] < tokenizer_vocab_size(tokenizer));
        char *back = tokenizer_decode(tokenizer, ids.ids, (int)ids.count, &back_length);
        FUZZ_CHECK(back_length == expected_length && memcmp(back, expected, back_length) == 0);
        if (lossless(o, text, length)) FUZZ_CHECK(back_length == length && memcmp(back, text, length) == 0);
        memory_free(back);
    }
    memory_free(expected);
    id_list_free(&ids);
    text_encoder_free(encoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    TokenizerOptions options = {.type = (TokenizerType)(data[0] & 3),
                                .vocab_size = 261 + (data[1] & 63),
                                .normalization = (Normalization)((data[0] >> 2) % 3),
                                .lowercase = data[0] >> 6 & 1,
                                .min_frequency = 1 + (data[0] >> 7)};
    const char *text = (const char *)data + 2, *end = (const char *)data + size, *split = memchr(text, 0xFE, size - 2);
    size_t learned = split ? (size_t)(split - text) : size - 2;
    const char *encoded = split ? split + 1 : text; /* without 0xFE the text that was learned from */
    Lines lines;
    lines_split(&lines, memory_text(text, learned), learned);
    const Lines *texts[] = {&lines};
    Error error;
    Tokenizer *tokenizer = tokenizer_learn(texts, 1, &options, &error);
    if (tokenizer != NULL) check_text(tokenizer, &options, (data[1] >> 6) * 0.3, encoded, (size_t)(end - encoded));
    tokenizer_free(tokenizer);
    lines_free(&lines);
    return 0;
}
