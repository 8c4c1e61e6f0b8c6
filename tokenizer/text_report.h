/* What reading a text with a tokenizer changes: bytes that are not UTF-8, and what normalisation does. */
#ifndef TOKENIZER_TEXT_REPORT_H
#define TOKENIZER_TEXT_REPORT_H

#include "tokenizer/tokenizer.h"

typedef enum InvalidUtf8 { INVALID_UTF8_REPLACE, INVALID_UTF8_REJECT } InvalidUtf8;

/* Lines that are not UTF-8: how many, and the place of the first byte that is wrong, both from 1. */
typedef struct InvalidText {
    size_t lines, line, byte;
} InvalidText;

InvalidText text_find_invalid(const Lines *lines);

enum { TEXT_REPORT_BYTES = 512 };

/* "nfc changes 3 of 29000 lines; in line 17 "..." becomes "...", U+0065 to U+00E9", or "nfc changes none of ..." */
void text_report_changes(char out[TEXT_REPORT_BYTES], const Lines *lines, Normalization form, bool lowercase);

#endif
