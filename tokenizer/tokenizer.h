/* Text to ids and back: byte pair encoding or whole words, with byte fallback, stored as a Hugging Face tokenizer.json.
 *
 * A line goes through four steps, the same in learning and in encoding:
 *   1 normalise   invalid UTF-8 becomes U+FFFD; NFC or NFKC and lower case where asked
 *   2 mark        put "▁" in front and replace every space by "▁":      "a  bc" -> "▁a▁▁bc"
 *   3 split       every "▁" begins a new word:                          "▁a" "▁" "▁bc"
 *   4 merge       in each word, the pair of pieces learned first becomes one piece, until none is left;
 *                 a character without a piece of its own is spelled by the byte tokens of its UTF-8 form.
 *                 With whole words (type word) a word that is a piece stays whole, and others are spelled
 * Decoding joins the pieces, turns "▁" into a space and drops the one in front. With normalization none
 * that gives back every line of valid UTF-8, except that a literal U+2581 comes back as a space.
 *
 * Ids: 0 <s>, 1 <pad>, 2 </s>, 3 <unk>, 4..259 the byte tokens <0x00>..<0xFF> (constants: base/batch.h),
 * then the characters of the alphabet by code point, then merged pieces in the order they were learned, or
 * whole words by frequency (ties: by their bytes).
 * The special pieces stand in the vocabulary only: the text "</s>" is text. */
#ifndef TOKENIZER_TOKENIZER_H
#define TOKENIZER_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/lines.h"

typedef enum TokenizerType { TOKENIZER_BPE, TOKENIZER_WORD, TOKENIZER_CHAR, TOKENIZER_BYTE } TokenizerType;
typedef enum Normalization { NORMALIZATION_NONE, NORMALIZATION_NFC, NORMALIZATION_NFKC } Normalization;

typedef struct TokenizerOptions {
    TokenizerType type; /* bpe; word: what stands between spaces, rare words spelled by characters;
                           char: single characters, no merges; byte: byte tokens and "▁" */
    int vocab_size;     /* wanted number of ids; a byte vocabulary always has 261 */
    Normalization normalization;
    bool lowercase;
    int min_frequency; /* characters, pairs and words seen less often get no piece; 1 or more */
} TokenizerOptions;

/* bpe, 8000 ids, no normalisation, min_frequency 2. */
TokenizerOptions tokenizer_default_options(void);

typedef struct Tokenizer Tokenizer; /* never changes once made, so threads may share it */

/* Learns a vocabulary from all lines of texts[0..count), together. NULL and an error if vocab_size is below
 * 261 or the texts hold no character.
 * tokenizer_vocab_size() is exactly o->vocab_size if the text has enough pairs, else smaller: use the former.
 * Alphabet: the most frequent characters (ties: smaller code point) with at least min_frequency
 * occurrences, but in bpe and word no more of them than half of the ids above the byte tokens. */
Tokenizer *tokenizer_learn(const Lines *const *texts, int count, const TokenizerOptions *o, Error *error);

/* Reads and checks every part of a tokenizer.json; NULL and an error naming the file and the part. */
Tokenizer *tokenizer_load(const char *path, Error *error);

/* Writes path.tmp, syncs it, renames it to path. */
bool tokenizer_save(const Tokenizer *tokenizer, const char *path, Error *error);
void tokenizer_free(Tokenizer *tokenizer); /* NULL allowed */

int tokenizer_vocab_size(const Tokenizer *tokenizer);
const char *tokenizer_piece(const Tokenizer *tokenizer, int id); /* 0 <= id < vocab_size */
int tokenizer_id(const Tokenizer *tokenizer, const char *piece); /* -1 if there is none */
uint64_t tokenizer_hash(const Tokenizer *tokenizer);             /* of the settings, pieces and merges */

typedef struct IdList {
    int *ids; /* [count], owned */
    size_t count, capacity;
} IdList;

void id_list_push(IdList *list, int id);
void id_list_free(IdList *list);

/* What one thread needs to encode: working memory and a bounded cache of words. The tokenizer must
 * outlive it. (The model has an Encoder of its own, hence the name.) */
typedef struct TextEncoder TextEncoder;

TextEncoder *text_encoder_new(const Tokenizer *tokenizer);
void text_encoder_free(TextEncoder *encoder); /* NULL allowed */

/* Appends the ids of text[0..length) to out; adds no <s> or </s>. Any bytes are allowed: each maximal
 * invalid sequence becomes one U+FFFD (as in Python's errors="replace"). Empty text has no ids. */
void tokenizer_encode(TextEncoder *encoder, const char *text, size_t length, IdList *out);

/* The same with BPE-dropout (Provilkov, Emelianenko, Voita 2020, algorithm 1): each time the next merge is chosen,
 * every possible one is left out with probability `rate`, 0 <= rate < 1. So a text has many encodings, all of
 * which decode to it; which one is a pure function of tokenizer, text, rate and seed. */
void tokenizer_encode_dropout(TextEncoder *encoder, const char *text, size_t length, double rate, uint64_t seed,
                              IdList *out);

/* The text of ids[0..count), its bytes in *length (NULL allowed) and a final NUL; free with memory_free.
 * Ids 0..3 are skipped. A run of byte tokens that is not valid UTF-8 becomes one U+FFFD per byte, which is
 * the library's rule; so the text is always valid UTF-8. It may hold NULs and line feeds. */
char *tokenizer_decode(const Tokenizer *tokenizer, const int *ids, int count, size_t *length);

#endif
