#include "tokenizer/utf8.h"

/* What may follow a first byte: how many bytes, and the range of the first of them (Unicode 15, table 3-7).
 * The later ones are 80..BF. */
typedef struct Follow {
    size_t count; /* 0: no character starts with this byte */
    unsigned char low, high;
} Follow;

static Follow follow_of(unsigned char first) {
    if (first >= 0xC2 && first <= 0xDF) return (Follow){1, 0x80, 0xBF};
    if (first == 0xE0) return (Follow){2, 0xA0, 0xBF}; /* else overlong */
    if (first == 0xED) return (Follow){2, 0x80, 0x9F}; /* else a surrogate */
    if (first >= 0xE1 && first <= 0xEF) return (Follow){2, 0x80, 0xBF};
    if (first == 0xF0) return (Follow){3, 0x90, 0xBF}; /* else overlong */
    if (first >= 0xF1 && first <= 0xF3) return (Follow){3, 0x80, 0xBF};
    if (first == 0xF4) return (Follow){3, 0x80, 0x8F}; /* else above U+10FFFF */
    return (Follow){0, 0, 0};
}

size_t utf8_next(const char *text, size_t length, int32_t *code) {
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80) {
        *code = bytes[0];
        return 1;
    }
    Follow follow = follow_of(bytes[0]);
    int32_t value = bytes[0] & (0x3F >> follow.count);
    size_t n = 1;
    for (; n <= follow.count; n++) {
        unsigned char low = n == 1 ? follow.low : 0x80, high = n == 1 ? follow.high : 0xBF;
        if (n == length || bytes[n] < low || bytes[n] > high) break;
        value = value << 6 | (bytes[n] & 0x3F);
    }
    *code = follow.count > 0 && n > follow.count ? value : -1;
    return n;
}

size_t utf8_put(char *out, int32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((0xF00 >> n & 0xFF) | code); /* n ones, then the highest bits */
    return n;
}

size_t utf8_valid_length(const char *text, size_t length) {
    int32_t code;
    size_t i = 0;
    for (size_t n; i < length; i += n) {
        n = utf8_next(text + i, length - i, &code);
        if (code < 0) break;
    }
    return i;
}

bool utf8_valid(const char *text, size_t length) { return utf8_valid_length(text, length) == length; }
