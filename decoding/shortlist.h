/* Which logit is the largest, without computing all of them.
 *
 * The output layer is half of a small model's step, and for one sentence at a time a step is as slow as reading its
 * weights. A copy of them in 8 bits is a quarter of that, and its products with a hidden state in 8 bits are sums of
 * integers, four times as fast where the processor multiplies bytes. They give each logit to within a bound, and only
 * those that could be the largest are computed from the weights themselves, in the same order and so with the same bits
 * as ever: greedy search chooses what it would have chosen, where every logit is a finite number.
 *
 *     w_v = s_v q_v + r_v,    h = t g + e,    q, g in -127..127
 *     z_v = h w_v = t s_v g q_v + s_v e q_v + h r_v,    |s_v e q_v + h r_v| <= |e| |s_v q_v| + |h| |r_v|  (Cauchy-Schwarz) */
#ifndef DECODING_SHORTLIST_H
#define DECODING_SHORTLIST_H

#include <stdint.h>

#include "base/arena.h"
#include "decoding/byte_product.h"
#include "decoding/logits.h"

enum { SHORTLIST_BLOCK = BYTE_COLS }; /* classes that are bounded, and then computed or not, together */

typedef struct Shortlist {
    int in, out;
    int8_t *q;           /* [blocks, byte_pad(in) / BYTE_QUAD, SHORTLIST_BLOCK, BYTE_QUAD] */
    int32_t *start;      /* [blocks, SHORTLIST_BLOCK] -128 sum_i q_vi: the bytes of h are g + 128 */
    double *unit;        /* [blocks] the largest s of a block */
    real *scale;         /* [blocks, SHORTLIST_BLOCK] s as a share of it */
    double *of_h, *of_e; /* [blocks] what |h| and |e| are multiplied by in a bound for all classes of a block */
} Shortlist;

void shortlist_init(Shortlist *s, const Linear *p);
void shortlist_free(Shortlist *s);

/* Logits of h [rows,in], without sums: exact for each SHORTLIST_BLOCK that may hold the largest from first_allowed on, and
 * for the first; -inf elsewhere. Where `most` of a block of LOGITS_BLOCK is -inf, z is not set.
 * exact: the same layer, without a bias. */
void shortlist_logits(Logits *l, const real *h, const Shortlist *s, const PackedLinear *exact, int rows,
                      int first_allowed, Arena *scratch);

#endif
