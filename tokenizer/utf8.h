/* UTF-8, one character at a time, for bytes that may be anything. */
#ifndef TOKENIZER_UTF8_H
#define TOKENIZER_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORD_MARK "\xE2\x96\x81"   /* U+2581, "▁": stands for a space and begins every word */
#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD: stands for bytes that are not UTF-8 */
enum { CODE_WORD_MARK = 0x2581, CODE_REPLACEMENT = 0xFFFD, CODE_LIMIT = 0x110000 };

/* Length in bytes of the first character of text[0..length), length > 0; its code point in *code.
 * If no character starts there, *code is -1 and the length that of the maximal invalid sequence, 1 to 3
 * bytes: the start of a well-formed character that breaks off, or one byte (Unicode 15, section 3.9, U+FFFD
 * Substitution of Maximal Subparts). Surrogates and overlong forms are invalid. */
size_t utf8_next(const char *text, size_t length, int32_t *code);

/* Writes 1 to 4 bytes and returns how many. */
size_t utf8_put(char *out, int32_t code);

/* Bytes of text[0..length) before the first that is not UTF-8; length if all are. */
size_t utf8_valid_length(const char *text, size_t length);
bool utf8_valid(const char *text, size_t length);

#endif
