#include "model/dropout.h"

#include <string.h>

#include "base/parts.h"
#include "base/rng.h"

Dropout dropout_draw(const DropoutDraw *draw, const DropoutRates *rates, int side, const Packed *rows,
                     const int64_t *index, Arena *arena) {
    if (draw == NULL) return (Dropout){0};
    uint64_t *row_key = arena_array(arena, uint64_t, "dropout row keys", packed_rows(rows));
    uint64_t update = hash_fold(hash64(draw->seed), (uint64_t)draw->update);
    for (int s = 0; s < rows->sentences; s++) {
        uint64_t sentence = hash_fold(hash_fold(update, (uint64_t)index[s]), (uint64_t)(2 * draw->copy + side));
        for (int row = 0; row < packed_length(rows, s); row++)
            row_key[rows->offset[s] + row] = hash_fold(sentence, (uint64_t)row);
    }
    return (Dropout){*rates, row_key};
}

static double rate_of(const DropoutRates *rates, DropoutPlace place) {
    switch (place) {
    case DROPOUT_EMBEDDING:
        return rates->embedding;
    case DROPOUT_SELF_WEIGHTS:
    case DROPOUT_CROSS_WEIGHTS:
        return rates->attention;
    case DROPOUT_FFN_INNER:
        return rates->activation;
    case DROPOUT_SELF_RESIDUAL:
    case DROPOUT_CROSS_RESIDUAL:
    case DROPOUT_FFN_RESIDUAL:
        return rates->residual;
    case DROPOUT_SOURCE_WORD:
        return rates->source_word;
    case DROPOUT_TARGET_WORD:
        return rates->target_word;
    }
    return 0;
}

DropoutSite dropout_site(const Dropout *dropout, int layer, DropoutPlace place) {
    double rate = rate_of(&dropout->rates, place);
    return (DropoutSite){.row_key = dropout->row_key,
                         .place = hash64((uint64_t)layer * 16 + place),
                         .threshold = (uint32_t)(rate * 0x1p32),
                         .scale = (real)(1 / (1 - rate))};
}

DropoutSites dropout_sites(const Dropout *dropout, int layer) {
    return (DropoutSites){.self_weights = dropout_site(dropout, layer, DROPOUT_SELF_WEIGHTS),
                          .after_self = dropout_site(dropout, layer, DROPOUT_SELF_RESIDUAL),
                          .cross_weights = dropout_site(dropout, layer, DROPOUT_CROSS_WEIGHTS),
                          .after_cross = dropout_site(dropout, layer, DROPOUT_CROSS_RESIDUAL),
                          .inner = dropout_site(dropout, layer, DROPOUT_FFN_INNER),
                          .after_ffn = dropout_site(dropout, layer, DROPOUT_FFN_RESIDUAL)};
}

/* Element f of a row is kept when a hash of f, keyed by the row's 64 bits, reaches the threshold. */
static void dropout_row(real *y, const real *x, int F, uint64_t key, const DropoutSite *site) {
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32), threshold = site->threshold;
    real scale = site->scale;
#pragma omp simd
    for (int f = 0; f < F; f++) {
        uint32_t h = hash32(((uint32_t)f * 0x9E3779B9u) ^ low) ^ high;
        real kept = x[f] * scale; /* read in any case: without AVX no load can be masked */
        y[f] = h >= threshold ? kept : 0;
    }
}

void dropout_forward(real *y, const real *x, int N, int F, const DropoutSite *site) {
    if (!dropout_is_on(site)) {
        if (y != x) memcpy(y, x, (size_t)N * (size_t)F * sizeof(real));
        return;
    }
    part_begin(PART_DROPOUT);
    for (int n = 0; n < N; n++)
        dropout_row(y + (size_t)n * F, x + (size_t)n * F, F, hash64(site->row_key[n] ^ site->place), site);
    part_end();
}

/* Forward     y_nf = m_nf x_nf,  m_nf = 0 or 1/keep, independent of x
 * Given       dy.   Wanted  dx.
 * Derivation  dx_nf = m_nf dy_nf: the same map as the forward, with the same mask.
 * Saved       nothing: the mask is drawn again. */
void dropout_backward(real *dx, const real *dy, int N, int F, const DropoutSite *site) {
    dropout_forward(dx, dy, N, F, site);
}

real dropout_word(int row, const DropoutSite *site) {
    if (!dropout_is_on(site)) return 1;
    return (uint32_t)hash64(site->row_key[row] ^ site->place) >= site->threshold ? site->scale : 0;
}

void dropout_weights(real *y, const real *x, int keys, int query_row, int head, const DropoutSite *site) {
    dropout_row(y, x, keys, hash_fold(site->row_key[query_row] ^ site->place, (uint64_t)head + 1), site);
}
