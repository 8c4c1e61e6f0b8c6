/* The gradient of an update, computed by threads.
 *
 * Pieces are dealt to lanes by position: lane l works through pieces l, l + lanes, l + 2 lanes, ... in order, and adds to
 * its own gradient slab. Threads run lanes, each thread with one warm arena. So memory does not grow with the update,
 * and the sums depend on the number of lanes but not on the number of threads. */
#ifndef TRAINING_LANES_H
#define TRAINING_LANES_H

#include "model/transformer.h"

typedef struct Lanes {
    int lanes, threads;
    double rdrop;          /* alpha of R-Drop (model/rdrop.h); 0, as lanes_init sets it: one pass over each piece */
    size_t size;           /* reals in a slab */
    real **slab;           /* [lanes] of [size] */
    Transformer *gradient; /* [lanes], bound to the slabs */
    Arena *arena;          /* [threads] */
} Lanes;

void lanes_init(Lanes *l, const ModelConfig *config, size_t size, int lanes, int threads);
void lanes_free(Lanes *l);

/* Overwrites the slabs with each lane's share of the gradient of (sum of the pieces' objectives) / (their target tokens).
 * Returns the sums over all pieces, added in order. */
LossSums lanes_gradient(Lanes *l, const Batch *piece, int pieces, const Transformer *p, const TransformerPositions *t,
                        double smoothing, const DropoutDraw *draw);

/* Adds all slabs, in order, into slab 0: the gradient of the update. Returns its L2 norm. */
double lanes_sum(Lanes *l);

/* [size] reals that are free from there to the next lanes_gradient: another lane's slab, or NULL where there is one lane. */
real *lanes_spare(Lanes *l);

#endif
