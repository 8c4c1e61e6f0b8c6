#include "model/product.h"

#include <stddef.h>
#include <string.h>

/* A tile has as many sums as fit in registers, beside a row of B and an element of A: 6 x 4 vectors of 32 registers with
 * AVX-512, 6 x 2 of 16 without. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE_VECTORS = 4 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, TILE_VECTORS = 2 };
#else
enum { VECTOR_BYTES = 16, TILE_VECTORS = 2 };
#endif
enum {
    LANES = VECTOR_BYTES / sizeof(real),
    ROWS = 6,
    COLS = TILE_VECTORS * LANES,
    /* Terms of a sum at a time, so many that C is read and written seldom. A panel of B then lies in the second-level
     * cache. So does a strip of a transposed A, once it is copied: hence fewer. Where C has few columns, few panels follow
     * that read the strip again, and a short one is faster. */
    DEPTH = 512,
    COPIED_DEPTH = 352,
    FEW_COLS = 512,
    DEPTH_OF_FEW = 128,
    STRIP_ROWS = 88 * ROWS,
    /* From one sliver to the next. One more cache line makes the number of lines odd, so that slivers do not compete for
     * places, and takes what copy_sliver writes too much. */
    SLIVER = COPIED_DEPTH * ROWS + 64 / sizeof(real),
    /* Terms copied of a sliver before those of the next one: the columns of A of both share cache lines. */
    TERMS_TOGETHER = 32,
    TERMS_AHEAD = 16, /* of a panel, asked for before they are copied */
};
typedef real Vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

#define INLINE static inline __attribute__((always_inline)) /* with constant sizes the sums stay in registers */

static inline Operand operand_from(Operand x, int row, int col) {
    return (Operand){x.data + (ptrdiff_t)row * x.row + (ptrdiff_t)col * x.col, x.row, x.col};
}

/* rows (<= ROWS) by COLS of C; B is a packed panel. C is read at the end: where A lies in slivers, it is the gradient of
 * weights, far away, and asked for ahead. */
INLINE void tile(real *C, ptrdiff_t ldc, Operand A, const real *B, int rows, int depth, bool add) {
    Vector sum[ROWS][TILE_VECTORS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < TILE_VECTORS; j++) {
            sum[i][j] = (Vector){0};
            if (A.col != 1) __builtin_prefetch(C + i * ldc + j * LANES, 1);
        }
#pragma GCC unroll 4 /* fewer operations of the loop's own: they cost on a busy machine */
    for (int l = 0; l < depth; l++) {
        const Vector *B_l = (const Vector *)(B + (ptrdiff_t)l * COLS);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < TILE_VECTORS; j++)
                sum[i][j] += A.data[i * (ptrdiff_t)A.row + l * (ptrdiff_t)A.col] * B_l[j];
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < TILE_VECTORS; j++) {
            Vector *C_ij = (Vector *)(C + i * ldc + j * LANES);
            if (add) sum[i][j] += *C_ij;
            *C_ij = sum[i][j];
        }
}

INLINE void tile_of_rows(real *C, ptrdiff_t ldc, Operand A, const real *B, int rows, int depth, bool add) {
    switch (rows) {
    case 1:
        tile(C, ldc, A, B, 1, depth, add);
        break;
    case 2:
        tile(C, ldc, A, B, 2, depth, add);
        break;
    case 3:
        tile(C, ldc, A, B, 3, depth, add);
        break;
    case 4:
        tile(C, ldc, A, B, 4, depth, add);
        break;
    case 5:
        tile(C, ldc, A, B, 5, depth, add);
        break;
    default:
        tile(C, ldc, A, B, ROWS, depth, add);
    }
}

/* A's rows as they lie, or a sliver: with constant distances. */
static void tile_of_either(real *C, ptrdiff_t ldc, Operand A, const real *B, int rows, int depth, bool add) {
    if (A.col == 1)
        tile_of_rows(C, ldc, (Operand){A.data, A.row, 1}, B, rows, depth, add);
    else
        tile_of_rows(C, ldc, (Operand){A.data, 1, ROWS}, B, rows, depth, add);
}

/* m by cols of C. The columns that a panel is short of are computed beside C. */
static void strip(real *C, int ldc, Operand A, const real *B, int m, int cols, int depth, bool add) {
    real edge[ROWS * COLS];
    for (int i = 0; i < m; i += ROWS) {
        int rows = m - i < ROWS ? m - i : ROWS;
        Operand A_i = A.col == 1 ? operand_from(A, i, 0) : (Operand){A.data + i / ROWS * SLIVER, 1, ROWS};
        real *C_i = C + (ptrdiff_t)i * ldc;
        if (cols == COLS) {
            tile_of_either(C_i, ldc, A_i, B, rows, depth, add);
            continue;
        }
        tile_of_either(edge, COLS, A_i, B, rows, depth, false);
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < cols; j++)
                C_i[(ptrdiff_t)r * ldc + j] = edge[r * COLS + j] + (add ? C_i[(ptrdiff_t)r * ldc + j] : 0);
    }
}

#if defined(__AVX512F__) && !REAL_IS_DOUBLE && defined(__has_builtin)
#    if __has_builtin(__builtin_shufflevector)
#        define BY_QUARTERS 1
#    endif
#endif
#ifdef BY_QUARTERS
typedef real Quarter __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));

/* Four quarters of a vector that lie a distance apart, side by side. */
static inline Vector four_quarters(const real *X, ptrdiff_t distance) {
    const Quarter *a = (const Quarter *)X, *b = (const Quarter *)(X + distance),
                  *c = (const Quarter *)(X + 2 * distance), *d = (const Quarter *)(X + 3 * distance);
    return __builtin_shufflevector(__builtin_shufflevector(*a, *b, 0, 1, 2, 3, 4, 5, 6, 7),
                                   __builtin_shufflevector(*c, *d, 0, 1, 2, 3, 4, 5, 6, 7), 0, 1, 2, 3, 4, 5, 6, 7, 8,
                                   9, 10, 11, 12, 13, 14, 15);
}

/* Of each quarter four elements. i, j, k, l name those of the first one: 0 to 3 are x's, 16 to 19 y's. */
#    define IN_QUARTERS(x, y, i, j, k, l)                                                                         \
        __builtin_shufflevector(x, y, i, j, k, l, i + 4, j + 4, k + 4, l + 4, i + 8, j + 8, k + 8, l + 8, i + 12, \
                                j + 12, k + 12, l + 12)

/* T [16, 16] = X'. Quarters go to their places first, then the 4 x 4 blocks are turned. */
static inline void transpose_block(real *T, ptrdiff_t ldt, const real *X, ptrdiff_t ldx) {
    for (int q = 0; q < LANES; q += 4) { /* 4 x 4 blocks of columns q to q + 3, those of four groups of rows at once */
        Vector a = four_quarters(X + q, 4 * ldx), b = four_quarters(X + ldx + q, 4 * ldx),
               c = four_quarters(X + 2 * ldx + q, 4 * ldx), d = four_quarters(X + 3 * ldx + q, 4 * ldx);
        Vector ab_01 = IN_QUARTERS(a, b, 0, 16, 1, 17), ab_23 = IN_QUARTERS(a, b, 2, 18, 3, 19);
        Vector cd_01 = IN_QUARTERS(c, d, 0, 16, 1, 17), cd_23 = IN_QUARTERS(c, d, 2, 18, 3, 19);
        *(Vector *)(T + q * ldt) = IN_QUARTERS(ab_01, cd_01, 0, 1, 16, 17);
        *(Vector *)(T + (q + 1) * ldt) = IN_QUARTERS(ab_01, cd_01, 2, 3, 18, 19);
        *(Vector *)(T + (q + 2) * ldt) = IN_QUARTERS(ab_23, cd_23, 0, 1, 16, 17);
        *(Vector *)(T + (q + 3) * ldt) = IN_QUARTERS(ab_23, cd_23, 2, 3, 18, 19);
    }
}
#else
/* T [LANES, LANES] = X'. */
static inline void transpose_block(real *T, ptrdiff_t ldt, const real *X, ptrdiff_t ldx) {
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++) T[j * ldt + i] = X[i * ldx + j];
}
#endif

/* panel [depth, COLS] = cols columns of B, which are its rows in memory */
static void transpose_panel(real *panel, Operand B, int depth, int cols) {
    for (int j = 0; j < cols; j += LANES)
        for (int l = 0; l < depth; l += LANES)
            if (j + LANES <= cols && l + LANES <= depth)
                transpose_block(panel + l * COLS + j, COLS, operand_from(B, l, j).data, B.col);
            else
                for (int c = j; c < cols && c < j + LANES; c++)
                    for (int d = l; d < depth && d < l + LANES; d++) panel[d * COLS + c] = *operand_from(B, d, c).data;
}

/* panel [depth, COLS] = cols columns of B, and zeros */
static void copy_panel(real *panel, Operand B, int depth, int cols) {
    if (cols < COLS) memset(panel, 0, sizeof(real) * COLS * (size_t)depth);
    if (B.col != 1)
        transpose_panel(panel, B, depth, cols);
    else if (cols < COLS)
        for (int l = 0; l < depth; l++)
            memcpy(panel + l * COLS, operand_from(B, l, 0).data, sizeof(real) * (size_t)cols);
    else /* a constant length: copied inline */
        for (int l = 0; l < depth; l++) {
            const real *B_l = operand_from(B, l, 0).data;
            if (l + TERMS_AHEAD < depth)
                for (int j = 0; j < COLS; j += LANES) __builtin_prefetch(B_l + (ptrdiff_t)TERMS_AHEAD * B.row + j);
            memcpy(panel + l * COLS, B_l, sizeof(real) * COLS);
        }
}

/* terms (<= TERMS_TOGETHER) of a sliver [depth, ROWS] = rows of A. Where they are there, 8 of a column are copied, a whole
 * vector, of which the next column overwrites the last two; those of the last column fall behind the sliver. */
static void copy_sliver(real *sliver, Operand A, int rows, int terms) {
    enum { WIDE = 8 };
    if (rows >= WIDE)
        for (int l = 0; l < terms; l++) memcpy(sliver + l * ROWS, operand_from(A, 0, l).data, sizeof(real) * WIDE);
    else
        for (int l = 0; l < terms; l++)
            for (int i = 0; i < rows && i < ROWS; i++) sliver[l * ROWS + i] = *operand_from(A, i, l).data;
}

/* The rows of a transposed A in slivers, which lie SLIVER apart. */
static Operand copy_strip(real *copy, Operand A, int rows, int depth) {
    for (int l = 0; l < depth; l += TERMS_TOGETHER)
        for (int i = 0; i < rows; i += ROWS) {
            int terms = depth - l < TERMS_TOGETHER ? depth - l : TERMS_TOGETHER;
            copy_sliver(copy + i / ROWS * SLIVER + l * ROWS, operand_from(A, i, l), rows - i, terms);
        }
    return (Operand){copy, 1, ROWS};
}

void product(real *C, Operand A, Operand B, int m, int n, int k, bool add) {
    real panel[DEPTH * COLS] __attribute__((aligned(64))),
        copy[STRIP_ROWS / ROWS * SLIVER] __attribute__((aligned(64)));
    bool copied = A.row == 1;
    int most_rows = copied ? STRIP_ROWS : m, most_depth = !copied ? DEPTH : n < FEW_COLS ? DEPTH_OF_FEW : COPIED_DEPTH;
    for (int l = 0; l < k; l += most_depth)
        for (int i = 0; i < m; i += most_rows) {
            int depth = k - l < most_depth ? k - l : most_depth, rows = m - i < most_rows ? m - i : most_rows;
            Operand A_il = operand_from(A, i, l);
            if (copied) A_il = copy_strip(copy, A_il, rows, depth);
            for (int j = 0; j < n; j += COLS) {
                int cols = n - j < COLS ? n - j : COLS;
                copy_panel(panel, operand_from(B, l, j), depth, cols);
                strip(C + (ptrdiff_t)i * n + j, n, A_il, panel, rows, cols, depth, add || l > 0);
            }
        }
}
