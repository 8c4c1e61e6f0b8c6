/* Softmax of one row of scaled scores. */
#ifndef MODEL_SOFTMAX_H
#define MODEL_SOFTMAX_H

#include "base/real.h"

/* y_j = exp(scale x_j) / sum_l exp(scale x_l) over the first `visible` entries, 0 in the rest of [padded], which is a
 * multiple of TILE_COLS (tile.h).
 * With none visible all are 0. y may be x, whose hidden entries are not used. */
void softmax_forward(real *y, const real *x, int visible, int padded, real scale);

/* Overwrites dx [n], which may be dy. Reads dy and the forward's y. */
void softmax_backward(real *dx, const real *dy, const real *y, int n, real scale);

#endif
