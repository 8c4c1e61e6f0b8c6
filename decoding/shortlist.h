/* Which logit is the largest, without computing all of them.
 *
 * One token of one sentence at a time is as slow as reading the weights, and most of those belong to the output layer. A
 * copy of its weights in 8 bits is a quarter of that. It gives each logit to within a bound, and only those that could be
 * the largest are computed from the weights themselves, in the same order and so with the same bits as ever: greedy
 * search chooses what it would have chosen.
 *
 *     w_v = s_v q_v + r_v,  q_v in -127..127,    z_v = h w_v = s_v h q_v + h r_v,    |h r_v| <= |h| |r_v|  (Cauchy-Schwarz) */
#ifndef DECODING_SHORTLIST_H
#define DECODING_SHORTLIST_H

#include <stdint.h>

#include "base/arena.h"
#include "decoding/packed_linear.h"

enum { SHORTLIST_BLOCK = 2 * TILE_WIDE }; /* outputs that are bounded, and then computed or not, together */

typedef struct Shortlist {
    int in, out;
    int8_t *q;    /* [blocks, in, SHORTLIST_BLOCK] */
    real *scale;  /* [out] s */
    real *radius; /* [out] at least |r_v|, and the rounding of both sums, for |h| = 1 */
} Shortlist;

void shortlist_init(Shortlist *s, const Linear *p);
void shortlist_free(Shortlist *s);

/* z [out] for h [in]: exact in each block that may hold the largest of the logits from first_allowed on, and in the first
 * block; -inf elsewhere. exact: the same layer, without a bias. */
void shortlist_logits(real *z, const real *h, const Shortlist *s, const PackedLinear *exact, int first_allowed,
                      Arena *scratch);

#endif
