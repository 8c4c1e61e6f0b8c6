/* Token embedding plus position: x_n = sqrt(D) E[id_n] + position(n), then dropout by the caller
 * (Vaswani et al. 2017, sections 3.4 and 3.5). */
#ifndef MODEL_EMBEDDING_H
#define MODEL_EMBEDDING_H

#include "base/batch.h"
#include "base/real.h"
#include "model/params.h"

typedef struct Embedding {
    int vocab, width;
    real *E; /* [V,D] */
} Embedding;

/* Sinusoids of the first rows, computed once: a cache of position_row, not a limit. */
typedef struct Positions {
    int rows, width;
    real *table; /* [rows,D] */
} Positions;

void positions_init(Positions *p, int rows, int width);
void positions_free(Positions *p);

/* row [D]: angle_j = pos / 10000^(2j/D) for j < D/2; sines in columns 0..D/2-1, cosines in the rest. pos from 0. */
void position_row(real *row, int pos, int D);

/* x [N,D], ids [N]; the position counts from `first` in each sentence (0 in training). */
void embedding_forward(real *x, const int *ids, const Packed *rows, int first, const Embedding *p,
                       const Positions *positions);

/* Adds to dp. Reads dx [N,D]. */
void embedding_backward(Embedding *dp, const real *dx, const int *ids, int N);

#endif
