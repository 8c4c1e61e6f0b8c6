/* Greedy decoding of a batch of sentences: at each step the most probable token, until </s> or the length limit. */
#ifndef DECODING_GREEDY_H
#define DECODING_GREEDY_H

#include <stdbool.h>
#include <stdint.h>

#include "decoding/step.h"
#include "tokenizer/tokenizer.h"

typedef struct DecodeLimits {
    double max_length_factor; /* at most factor * (source tokens with </s>) + extra target tokens */
    int max_length_extra;
    const uint8_t *banned; /* [V_tgt] nonzero: never emitted */
} DecodeLimits;

/* Which ids a decoder never emits: <s>, <pad>, <unk> and byte tokens of control characters. [vocab], from memory_alloc. */
uint8_t *decode_banned(int vocab);

int decode_most_tokens(const DecodeLimits *limits, int source_length);

/* A target, without </s>. */
typedef struct Hypothesis {
    int *ids; /* [count], from memory_alloc */
    int count;
    double log_p, score; /* of ids and </s>, as the beam search defines them (beam.h); 0 from greedy search */
} Hypothesis;

/* Decodes the sentences of source (ids end with </s>) into out [sentences]. The result of a sentence does not depend on
 * the others. Each has at least one token. Leaves the arena as it found it. */
void greedy_decode(Hypothesis *out, const StepModel *m, const int *source_ids, Packed source,
                   const DecodeLimits *limits, Arena *arena);

#endif
