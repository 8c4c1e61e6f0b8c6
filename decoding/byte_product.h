/* Sums of products of bytes, for bounds on logits (shortlist.h). They are integers: exact, in whatever order. */
#ifndef DECODING_BYTE_PRODUCT_H
#define DECODING_BYTE_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

enum { BYTE_QUAD = 4, BYTE_COLS = 64 };

/* Does the processor multiply bytes, so that this is faster than products of reals even where memory is no limit? */
#ifdef __AVX512VNNI__
enum { BYTE_PRODUCTS_ARE_FAST = true };
#else
enum { BYTE_PRODUCTS_ARE_FAST = false };
#endif

/* Pads a length to whole quads. */
static inline int byte_pad(int n) { return (n + BYTE_QUAD - 1) / BYTE_QUAD * BYTE_QUAD; }

/* sum[r][c] = start[c] + sum_i g[r][i] q[i][c] for g [rows,in], in a multiple of BYTE_QUAD, and q as
 * [in / BYTE_QUAD, BYTE_COLS, BYTE_QUAD], aligned to 64; sum [rows,BYTE_COLS]. in is at most 66,000, so that no sum overflows. */
void byte_product(int32_t *sum, const int32_t *start, const uint8_t *g, const int8_t *q, int rows, int in);

#endif
