/* A linear layer for decoding whose result for a row does not depend on the rows beside it.
 *
 * OpenBLAS gives one row different bits for different row counts, so a translation could depend on its batch. Here
 * every output is summed over k in one fixed order (tile.h), and the weights lie in panels of TILE_WIDE outputs,
 * packed once: panel p is [in, TILE_WIDE], columns p TILE_WIDE .. of W', the last one padded with zeros. */
#ifndef DECODING_PACKED_LINEAR_H
#define DECODING_PACKED_LINEAR_H

#include "model/linear.h"
#include "model/tile.h"

typedef struct PackedLinear {
    int in, out;
    real *panels;  /* [panels, in, TILE_WIDE] */
    const real *b; /* [out] borrowed, or NULL */
} PackedLinear;

void packed_linear_init(PackedLinear *packed, const Linear *p);
void packed_linear_free(PackedLinear *packed);

/* y [N,out] = x [N,in] W' + b. */
void packed_linear_forward(real *y, const real *x, const PackedLinear *p, int N);

/* y [N,end-first]: those outputs alone, without bias, with the same bits; first is a multiple of TILE_WIDE. */
void packed_linear_outputs(real *y, const real *x, const PackedLinear *p, int N, int first, int end);

#endif
