#include "decoding/byte_product.h"

#include <stddef.h>
#include <string.h>

#ifdef __AVX512VNNI__
#    include <immintrin.h>
#endif

/* As wide as the processor's, or the compiler takes them apart. */
#if defined(__AVX512F__)
enum { VECTOR = 64 };
#elif defined(__AVX2__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif

/* Sums of some columns, or four bytes each for them. */
typedef int32_t Columns __attribute__((vector_size(VECTOR), may_alias));
typedef uint32_t Quads __attribute__((vector_size(VECTOR), may_alias));

enum { VECTORS = BYTE_COLS * (int)sizeof(int32_t) / VECTOR };
enum { TILE_ROWS = BYTE_PRODUCTS_ARE_FAST ? 4 : 1 }; /* as many as leave the sums in registers */

/* sum_c += the four products of the bytes of q_c and g. */
static inline __attribute__((always_inline)) void add_quad(Columns *sum, const Quads *q, uint32_t g) {
#ifdef __AVX512VNNI__
    *sum = (Columns)_mm512_dpbusd_epi32((__m512i)*sum, _mm512_set1_epi32((int)g), (__m512i)*q);
#else
    for (int i = 0; i < BYTE_QUAD; i++) {
        Columns q_i = (Columns)(*q << (24 - 8 * i)) >> 24; /* byte i, with its sign */
        *sum += q_i * (int32_t)(g >> 8 * i & 255);
    }
#endif
}

static inline __attribute__((always_inline)) void tile(int32_t *sum, const int32_t *start, const uint8_t *g,
                                                       const int8_t *q, int rows, int in) {
    Columns s[TILE_ROWS][VECTORS];
    for (int r = 0; r < rows; r++) memcpy(s[r], start, sizeof s[r]);
    for (int i = 0; i < in; i += BYTE_QUAD) {
        const Quads *q_i = (const Quads *)(q + (ptrdiff_t)i * BYTE_COLS);
        for (int r = 0; r < rows; r++) {
            uint32_t quad;
            memcpy(&quad, g + (ptrdiff_t)r * in + i, sizeof quad);
            for (int c = 0; c < VECTORS; c++) add_quad(&s[r][c], &q_i[c], quad);
        }
    }
    for (int r = 0; r < rows; r++) memcpy(sum + (ptrdiff_t)r * BYTE_COLS, s[r], sizeof s[r]);
}

void byte_product(int32_t *sum, const int32_t *start, const uint8_t *g, const int8_t *q, int rows, int in) {
    int r = 0;
    for (; r + TILE_ROWS <= rows; r += TILE_ROWS)
        tile(sum + (ptrdiff_t)r * BYTE_COLS, start, g + (ptrdiff_t)r * in, q, TILE_ROWS, in);
    for (; r < rows; r++) tile(sum + (ptrdiff_t)r * BYTE_COLS, start, g + (ptrdiff_t)r * in, q, 1, in);
}
