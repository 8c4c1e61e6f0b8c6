/* What reading a text with a tokenizer changes: bytes that are not UTF-8, and what normalisation does. */
#ifndef TOKENIZER_TEXT_REPORT_H
#define TOKENIZER_TEXT_REPORT_H

#include "tokenizer/tokenizer.h"

typedef enum InvalidUtf8 { INVALID_UTF8_REPLACE, INVALID_UTF8_REJECT } InvalidUtf8;

enum { TEXT_REPORT_BYTES = 1024 };

/* What is not UTF-8 in lines that come one by one: how many such lines, and the first byte that is wrong. */
typedef struct InvalidText {
    size_t lines, line, byte; /* line and byte from 1 */
} InvalidText;

void invalid_text_add(InvalidText *invalid, size_t number, Line line); /* number from 1 */
void invalid_text_describe(char out[TEXT_REPORT_BYTES], const InvalidText *invalid, const char *path);

/* The same of a file. True if there are lines that are not UTF-8: "train.en:3:17: not UTF-8 (5 such lines)", with the place of the first byte
 * that is wrong, line and byte from 1. */
bool text_report_invalid(char out[TEXT_REPORT_BYTES], const char *path, const Lines *lines);

/* What normalising changes: "nfc: 3 of 29000 lines changed; line 17: "cafe\u0301" becomes "café", U+0065 to U+00E9". */
void text_report_changes(char out[TEXT_REPORT_BYTES], const Lines *lines, Normalization form, bool lowercase);

#endif
