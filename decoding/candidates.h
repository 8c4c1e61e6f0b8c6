/* The best continuations of the hypotheses of one sentence, chosen from the logits of all of them in one scan each. */
#ifndef DECODING_CANDIDATES_H
#define DECODING_CANDIDATES_H

#include "base/real.h"

typedef struct Candidate {
    double sum; /* log-probability of the hypothesis with this token */
    int row, id;
} Candidate;

/* The `most` best so far, best first; of equal ones the first that came. */
typedef struct Candidates {
    Candidate *best; /* [most] */
    int count, most;
} Candidates;

/* log sum_v exp z_v of a row of logits [V]: log p_v = z_v - this. */
double log_normalizer(const real *z, int V);

/* Offers base + z_v for all v of z [V]. A z_v of -inf is no candidate. */
void candidates_add_row(Candidates *c, const real *z, double base, int row, int V);
void candidates_add(Candidates *c, double sum, int row, int id);

#endif
