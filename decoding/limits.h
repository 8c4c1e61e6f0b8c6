/* What a translation may not be: too long, too short, repetitive, or made of tokens that are never emitted. */
#ifndef DECODING_LIMITS_H
#define DECODING_LIMITS_H

#include "base/batch.h"
#include "base/real.h"

typedef struct DecodeLimits {
    double max_length_factor; /* at most factor * (source tokens with </s>) + extra target tokens without </s> */
    int max_length_extra;
    int max_length;      /* and never more than this; 0: no such limit */
    int min_length;      /* </s> only behind so many tokens, at least 1 */
    int no_repeat_ngram; /* no n tokens may follow each other twice; 0: they may */
    const int *banned;   /* [banned_count] never emitted */
    int banned_count;
} DecodeLimits;

/* The ids that a decoder never emits: <s>, <pad>, <unk> and byte tokens of control characters; from memory_alloc. */
int *limits_banned(int vocab, int *count);

/* At least 1. */
int limits_most_tokens(const DecodeLimits *limits, int source_length);

/* Sets to -inf the logits z [V] of what may not follow ids[0..count). A hypothesis that nothing may follow may end,
 * however short. */
void limits_apply(real *z, int V, const DecodeLimits *limits, const int *ids, int count);

#endif
