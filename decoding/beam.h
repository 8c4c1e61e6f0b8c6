/* Beam search for a batch of sentences.
 *
 * The score of a hypothesis y1 .. yn </s> of the source x is
 *     log P(y1 .. yn </s> | x) / (n+1)^A + B cp,
 * A the length penalty: the length counts </s>, and A = 0 compares plain log-probabilities (Marian's --normalize,
 * CTranslate2's length_penalty); B the coverage penalty, cp <= 0 as in hypothesis_coverage (Wu et al. 2016, eq. 14).
 *
 * How the search of a sentence goes. At each step all continuations of its live hypotheses compete by log-probability,
 * and the best N - f are kept, N the beam size and f the number that have finished: those that end in </s> finish and
 * leave the batch, the others go on. A hypothesis of the most tokens allowed may only be followed by </s>.
 * The search ends
 *   - when N have finished,
 *   - when none is live (all possible continuations are forbidden),
 *   - or when nothing can change any more: n_best have finished, and the last of these scores at least as well as the
 *     best live one would if all its further tokens had probability 1, up to the most allowed.
 * With N = 1 this is greedy search.
 *
 * Samples take the place of the beam's hypotheses; each is drawn token by token and none is given up for another. Two
 * may be alike.
 *
 * Several models decide together, by the mean of their log-probabilities of each token. */
#ifndef DECODING_BEAM_H
#define DECODING_BEAM_H

#include "decoding/hypothesis.h"
#include "decoding/limits.h"
#include "decoding/sampling.h"
#include "decoding/step.h"

typedef struct BeamOptions {
    int beam_size, n_best;       /* N; and how many hypotheses are wanted, at most N */
    double length_penalty;       /* A >= 0 */
    double coverage_penalty;     /* B >= 0 */
    bool scores;                 /* wanted even with N = 1, which can do without; else they are 0 there */
    bool token_log_p, attention; /* wanted with each hypothesis */
    Sampling sampling;           /* instead of a search: N independent samples of each sentence, by score */
    int layer, head;             /* whose attention, for coverage too: -1 the last layer, -1 the mean of its heads */
} BeamOptions;

typedef struct BeamSources {
    const int *ids; /* sentences end to end, each with </s> */
    Packed rows;
    const int *forced_ids; /* how each target has to begin, end to end; NULL: freely */
    Packed forced;
    const int64_t *line; /* [sentences] their numbers, for sampling; NULL: counted from 0 */
    bool complete;       /* the targets are no more than that: a search without choice, which gives their scores */
} BeamSources;

/* Decodes the sentences into out [sentences, n_best]: hypotheses of a sentence by score, best first, no two alike
 * (samples may be); where fewer were found, the rest have ids NULL and scores of -inf. The result of a sentence does
 * not depend on the others, to the last bit of its scores. Each has at least one token (unless it was forced to have
 * none). Leaves the arena as it found it. */
void beam_decode(Hypothesis *out, const StepModel *model, int models, const BeamSources *sources,
                 const DecodeLimits *limits, const BeamOptions *options, Arena *arena);

#endif
