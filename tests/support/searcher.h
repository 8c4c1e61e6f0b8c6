/* A small model with all that a search of translations needs, and the full forward pass as its judge. */
#ifndef TESTS_SEARCHER_H
#define TESTS_SEARCHER_H

#include "decoding/beam.h"
#include "tests/support/small_model.h"

static const double TIGHT = REAL_IS_DOUBLE ? 1e-11 : 2e-5;

enum { SEARCHER_SENTENCES = 64, SEARCHER_BANNED = 5 }; /* an id that is never emitted, beside <s>, <pad> and <unk> */

typedef struct Searcher {
    ModelConfig config;
    SmallModel m;
    StepModel model;
    DecodeLimits limits; /* at most 1.5 * source + 6 tokens */
} Searcher;

/* Weights spread for more decided distributions, above all about </s>: else most hypotheses would never end. */
void searcher_init(Searcher *s, ModelConfig config, double spread, uint64_t seed);
void searcher_free(Searcher *s);

/* SEARCHER_SENTENCES sources of 1 to 20 tokens. */
Batch searcher_sources(const ModelConfig *config, uint64_t seed);

/* With scores, of the last layer. */
BeamOptions searcher_options(int beam_size, int n_best, double length_penalty);
void searcher_decode(Hypothesis *out, Searcher *s, const Batch *b, const BeamOptions *options);
void searcher_free_all(Hypothesis *h, int count);

/* Sentence i of b as a pair with this target. Free with small_batch_free. */
Batch searcher_pair(const Batch *b, int i, const int *ids, int count);

/* log P(ids </s>) of sentence i of b, by the full forward pass. */
double searcher_log_p(Searcher *s, const Batch *b, int i, const int *ids, int count);

#endif
