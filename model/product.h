/* One product for all linear layers, where the compiler has vectors of 64 bytes.
 *
 * C (+)= A B by outer products in registers, after Goto and van de Geijn, "Anatomy of high-performance matrix
 * multiplication" (2008), for the sizes of layers: hundreds of rows. BLAS copies both operands into an order of its own and
 * clears C first, which at a width of 128 costs a quarter of the time of the multiplications (docs/performance.md). */
#ifndef MODEL_PRODUCT_H
#define MODEL_PRODUCT_H

#include <stdbool.h>

#include "base/real.h"

/* A matrix, or the transpose of one: element i, j at data[i row + j col]. One of the two distances is 1. */
typedef struct Operand {
    const real *data;
    int row, col;
} Operand;

/* C [m,n] = A [m,k] B [k,n], or C += A B. C has rows of n. The order in which an element is summed over k depends on k,
 * and where A is transposed on n, never on m: what a row becomes does not depend on the rows beside it. k = 0 leaves C as
 * it is. Uses 0.9 MB of stack (double: 1.6). */
void product(real *C, Operand A, Operand B, int m, int n, int k, bool add);

#endif
