/* Dropout (Srivastava et al. 2014, inverted: kept values are scaled up by 1/keep).
 *
 * No mask is stored. Whether an element is kept is a pure function of (seed, update, side, corpus index of
 * the sentence, copy, row in the sentence) - folded into a row key once per piece - and of (place in the
 * model, head, column). So the backward, a resumed run, float and double, and any number of threads see the
 * same mask. */
#ifndef MODEL_DROPOUT_H
#define MODEL_DROPOUT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/batch.h"
#include "base/real.h"
#include "model/config.h"

/* Places in a layer; an embedding's and its words' are of layer 0. */
typedef enum DropoutPlace {
    DROPOUT_EMBEDDING,
    DROPOUT_SELF_WEIGHTS,
    DROPOUT_SELF_RESIDUAL,
    DROPOUT_CROSS_WEIGHTS,
    DROPOUT_CROSS_RESIDUAL,
    DROPOUT_FFN_INNER,
    DROPOUT_FFN_RESIDUAL,
    DROPOUT_SOURCE_WORD,
    DROPOUT_TARGET_WORD
} DropoutPlace;

/* What draws the masks of one piece. NULL where a whole pass goes without dropout. */
typedef struct DropoutDraw {
    uint64_t seed;
    int64_t update;
    int copy; /* tells apart several passes over the same sentences in one update */
} DropoutDraw;

/* The dropout of one side (encoder or decoder) of a piece. */
typedef struct Dropout {
    DropoutRates rates;
    const uint64_t *row_key; /* [N], or NULL: no dropout */
} Dropout;

typedef struct DropoutSite {
    const uint64_t *row_key; /* [N], or NULL: keep everything */
    uint64_t place;
    uint32_t threshold; /* an element whose hash is below it is dropped */
    real scale;         /* 1 / keep */
} DropoutSite;

/* side: 0 source, 1 target. draw == NULL gives dropout that keeps everything. Row keys live in the arena. */
Dropout dropout_draw(const DropoutDraw *draw, const DropoutRates *rates, int side, const Packed *rows,
                     const int64_t *index, Arena *arena);

DropoutSite dropout_site(const Dropout *dropout, int layer, DropoutPlace place);

/* All sites of one layer (an encoder layer has no cross-attention). */
typedef struct DropoutSites {
    DropoutSite self_weights, after_self, cross_weights, after_cross, inner, after_ffn;
} DropoutSites;

DropoutSites dropout_sites(const Dropout *dropout, int layer);

static inline int dropout_is_on(const DropoutSite *site) { return site->row_key != NULL && site->threshold > 0; }

/* y_nf = x_nf / keep where kept, else 0. y may be x. */
void dropout_forward(real *y, const real *x, int N, int F, const DropoutSite *site);
void dropout_backward(real *dx, const real *dy, int N, int F, const DropoutSite *site);

/* A whole row at once: 0, or 1/keep; 1 where there is no dropout. */
real dropout_word(int row, const DropoutSite *site);

/* One row of attention weights of one head. y may be x. */
void dropout_weights(real *y, const real *x, int keys, int query_row, int head, const DropoutSite *site);

#endif
