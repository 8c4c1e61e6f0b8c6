/* Beam search for a batch of sentences.
 *
 * The score of a hypothesis y1 .. yn </s> is   log P(y1 .. yn </s>) / (n+1)^A,   A the length penalty: the length
 * counts </s>, and A = 0 compares plain log-probabilities. (Marian's --normalize, CTranslate2's length_penalty.)
 *
 * How the search of a sentence goes. At each step all continuations of its live hypotheses compete by log-probability,
 * and the best N - f are kept, N the beam size and f the number that have finished: those that end in </s> finish and
 * leave the batch, the others go on. Hypotheses that have reached the most tokens allowed may only be followed by </s>.
 * The search ends
 *   - when N have finished,
 *   - when none is live (all possible continuations are forbidden),
 *   - or when nothing can change any more: n_best have finished, and the last of these scores at least as well as the best live
 *     one would if all its further tokens had probability 1, up to the most allowed.
 * With N = 1 this is greedy search. */
#ifndef DECODING_BEAM_H
#define DECODING_BEAM_H

#include "decoding/greedy.h"

typedef struct BeamOptions {
    int beam_size, n_best; /* N; and how many hypotheses are wanted, at most N */
    double length_penalty; /* A >= 0 */
    bool scores;           /* wanted even with N = 1, which can do without; else they are 0 there */
} BeamOptions;

/* Decodes the sentences of source (ids end with </s>) into out [sentences, n_best]: hypotheses of a sentence by score,
 * best first, no two alike; where fewer were found, the rest have ids NULL. The result of a sentence does not depend on
 * the others, to the last bit of its scores. Each has at least one token. Leaves the arena as it found it. */
void beam_decode(Hypothesis *out, const StepModel *m, const int *source_ids, Packed source, const DecodeLimits *limits,
                 const BeamOptions *options, Arena *arena);

#endif
