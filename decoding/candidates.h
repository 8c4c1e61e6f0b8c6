/* The best continuations of the hypotheses of one sentence, chosen from the logits of all of them in one scan each. */
#ifndef DECODING_CANDIDATES_H
#define DECODING_CANDIDATES_H

#include "decoding/logits.h"

typedef struct Candidate {
    double sum; /* log-probability of the hypothesis with this token */
    int row, id;
} Candidate;

/* The `most` best so far, best first; of equal ones the first that came. */
typedef struct Candidates {
    Candidate *best; /* [most] */
    int count, most;
} Candidates;

/* Offers base + z_v for all v of a row of logits. A z_v of -inf is no candidate. */
void candidates_add_row(Candidates *c, const Logits *logits, double base, int row);
void candidates_add(Candidates *c, double sum, int row, int id);

#endif
