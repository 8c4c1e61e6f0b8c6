#include "decoding/limits.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

int *limits_banned(int vocab, int *count) {
    int *banned = memory_alloc(3 + 0x20, sizeof *banned, "banned ids"), n = 0;
    banned[n++] = ID_BOS;
    banned[n++] = ID_PAD;
    banned[n++] = ID_UNK;
    for (int byte = 0; byte < 0x20 && ID_FIRST_BYTE + byte < vocab; byte++) banned[n++] = ID_FIRST_BYTE + byte;
    *count = n;
    return banned;
}

int limits_most_tokens(const DecodeLimits *limits, int source_length) {
    double most = limits->max_length_factor * source_length + limits->max_length_extra;
    if (limits->max_length > 0 && most > limits->max_length) most = limits->max_length;
    return most < 1 ? 1 : most > 1e6 ? 1000000 : (int)most;
}

/* Whatever followed an earlier occurrence of the last n-1 tokens would complete an n-gram a second time. */
static void forbid_repetition(real *z, int n, const int *ids, int count) {
    const int *last = ids + count - (n - 1);
    for (int i = 0; i + n <= count; i++)
        if (memcmp(ids + i, last, (size_t)(n - 1) * sizeof *ids) == 0) z[ids[i + n - 1]] = (real)-INFINITY;
}

void limits_apply(real *z, int V, const DecodeLimits *limits, const int *ids, int count) {
    real end = z[ID_EOS];
    for (int i = 0; i < limits->banned_count; i++) z[limits->banned[i]] = (real)-INFINITY;
    if (count < 1 || count < limits->min_length) z[ID_EOS] = (real)-INFINITY;
    if (limits->no_repeat_ngram > 0) {
        forbid_repetition(z, limits->no_repeat_ngram, ids, count);
        if (count > 0 && vec_max(z, V) == (real)-INFINITY) z[ID_EOS] = end;
    }
}
