/* The logits of a step [rows,V], with what a search asks of them: the largest, and the sum of exponentials.
 *
 * All logits of a batch are more than the caches hold. They are computed a block of classes at a time for all rows, and of
 * each block, while it is still in the second-level cache, its largest logit m_b and its sum s_b are kept. Then
 *     s_b = sum_v exp(z_v - m_b) over the block,    log sum_v exp z_v = M + log sum_b s_b exp(m_b - M),  M = max_b m_b
 * (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", section 3), and a scan for the best passes
 * over the blocks whose largest logit is too small. No row's figures depend on the rows beside it. */
#ifndef DECODING_LOGITS_H
#define DECODING_LOGITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "decoding/packed_linear.h"

enum { LOGITS_BLOCK = 256 }; /* classes; a multiple of TILE_WIDE */

typedef struct Logits {
    int V, blocks;
    bool summed; /* are sums wanted? */
    real *z;     /* [rows,V] */
    real *most;  /* [rows,blocks] m: at least the largest logit of the block, -inf allowed */
    real *sum;   /* [rows,blocks] s, if summed */
} Logits;

/* Room for the logits of so many rows, in the arena. */
Logits logits_new(int rows, int V, bool summed, Arena *arena);

static inline real *logits_row(const Logits *l, int row) { return l->z + (size_t)row * (size_t)l->V; }

/* z = h W' for h [rows,in]; output has no bias. */
void logits_forward(Logits *l, const real *h, const PackedLinear *output, int rows, Arena *scratch);

/* For a row whose z were written by others: finds the largest of each block. Its sums are not to be used. */
void logits_find_largest(Logits *l, int row);

/* log sum_v exp z_v of a row: log p_v = z_v - this. Needs sums, and z as logits_forward left them. */
double logits_normalizer(const Logits *l, int row);

#endif
