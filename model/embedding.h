/* Token embedding plus position: x_n = sqrt(D) E[id_n] + position(n), then dropout by the caller
 * (Vaswani et al. 2017, sections 3.4 and 3.5).
 *
 * Word dropout takes away whole rows E[id_n] and scales the others by 1/keep; the position stays. Gal and Ghahramani
 * (2016, section 4.2) drop a word at all its places in a sentence together; here each place decides for itself, as in
 * Marian's --dropout-src and --dropout-trg. <s> and </s>, which are no words but say where a sentence begins and ends,
 * are never dropped, and so not scaled either. */
#ifndef MODEL_EMBEDDING_H
#define MODEL_EMBEDDING_H

#include "base/batch.h"
#include "base/real.h"
#include "model/dropout.h"
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

/* x [N,D], ids [N]; the position counts from `first` in each sentence (0 in training). words == NULL: none is dropped. */
void embedding_forward(real *x, const int *ids, const Packed *rows, int first, const Embedding *p,
                       const Positions *positions, const DropoutSite *words);

/* Adds to dp. Reads dx [N,D]. */
void embedding_backward(Embedding *dp, const real *dx, const int *ids, int N, const DropoutSite *words);

#endif
