#include "decoding/cached_attention.h"

#include "base/vec.h"
#include "model/softmax.h"
#include "model/tile.h"

StepPaths step_paths(const StepCache *cache, const StepRows *rows, Arena *arena) {
    int longest = 0;
    StepPaths p = {.keys = arena_array(arena, int, "keys", rows->count)};
    for (int r = 0; r < rows->count; r++) {
        p.keys[r] = cache->length[step_sentence(cache, rows->slot[r])];
        longest = p.keys[r] > longest ? p.keys[r] : longest;
    }
    p.stride = longest;
    p.path = arena_array(arena, int, "paths", (size_t)rows->count *(size_t)longest);
    for (int r = 0; r < rows->count; r++)
        step_path(p.path + (size_t)r * (size_t)longest, cache, p.keys[r] - 1, rows->slot[r]);
    return p;
}

/* One row: the keys lie where the path says, so there is a dot product for each and no matrix product.
 * A is room for [H, tile_pad(keys)]. */
static void attend(real *out, const real *q, const StepCache *cache, int layer, const int *path, int keys, real *A) {
    int H = cache->shape.heads, K = cache->shape.d_k, Vd = cache->shape.d_v, M = tile_pad(keys);
    real scale = 1 / sqrt((real)K);
    for (int t = 0; t < keys; t++) { /* 1  S = q K' */
        const real *k_t = cache->chunk[t / STEP_CHUNK].k[layer] + step_row(cache, t, path[t]) * (size_t)(H * K);
        for (int h = 0; h < H; h++) A[(size_t)h * (size_t)M + (size_t)t] = vec_dot(q + h * K, k_t + h * K, K);
    }
    for (int h = 0; h < H; h++) { /* 2  A = softmax(S / sqrt K) */
        real *A_h = A + (size_t)h * (size_t)M;
        softmax_forward(A_h, A_h, keys, M, scale);
    }
    vec_fill(out, 0, H * Vd);
    for (int t = 0; t < keys; t++) { /* 3  o = A V */
        const real *v_t = cache->chunk[t / STEP_CHUNK].v[layer] + step_row(cache, t, path[t]) * (size_t)(H * Vd);
        for (int h = 0; h < H; h++) {
            real a = A[(size_t)h * (size_t)M + (size_t)t];
#pragma omp simd
            for (int c = h * Vd; c < (h + 1) * Vd; c++) out[c] += a * v_t[c];
        }
    }
}

void cached_self_attention(real *out, const real *q, int q_stride, const StepCache *cache, int layer,
                           const StepPaths *paths, int rows, Arena *scratch) {
    int HV = cache->shape.heads * cache->shape.d_v;
    real *A = arena_reals(scratch, "attention weights", cache->shape.heads, tile_pad(paths->stride));
    for (int r = 0; r < rows; r++)
        attend(out + (size_t)r * HV, q + (size_t)r * q_stride, cache, layer,
               paths->path + (size_t)r * (size_t)paths->stride, paths->keys[r], A);
}

/* Keeps the weights A [n,M] of one head, or adds them to the mean over heads. */
static void watch(const real *A, int M, const StepCache *cache, const int *slot, int n, int head) {
    int s = step_sentence(cache, slot[0]), m = packed_length(&cache->source, s), H = cache->shape.heads;
    if (cache->watched_head >= 0 && head != cache->watched_head) return;
    real share = cache->watched_head >= 0 ? 1 : 1 / (real)H;
    for (int i = 0; i < n; i++) {
        real *kept = step_attention(cache, cache->length[s] - 1, slot[i]);
        if (head == 0 || cache->watched_head >= 0) vec_fill(kept, 0, m);
        for (int j = 0; j < m; j++) kept[j] += share * A[(size_t)i * M + j];
    }
}

/* The n rows of the sentence that has the slots slot[0..n). */
static void attend_source(real *out, const real *q, const StepCache *cache, int layer, const int *slot, int n,
                          Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    int s = step_sentence(cache, slot[0]);
    int H = cache->shape.heads, K = cache->shape.d_k, Vd = cache->shape.d_v, HK = H * K, HV = H * Vd;
    int m = packed_length(&cache->source, s), M = tile_pad(m);
    const real *k_t = cache->of_source[layer].k_t + (size_t)cache->padded[s] * HK;
    const real *v = cache->of_source[layer].v + (size_t)cache->source.offset[s] * HV;
    real scale = 1 / sqrt((real)K), *A = arena_reals(scratch, "attention weights", n, M);
    for (int h = 0; h < H; h++) {
        tile_matmul(A, M, q + h * K, HK, 1, k_t + (size_t)(h * K) * (size_t)M, M, n, M, K); /* 1  S = Q K' */
        for (int i = 0; i < n; i++) /* 2  A = softmax(S / sqrt K) */
            softmax_forward(A + (size_t)i * M, A + (size_t)i * M, m, M, scale);
        if (layer == cache->watched_layer) watch(A, M, cache, slot, n, h);
        tile_matmul(out + h * Vd, HV, A, M, 1, v + h * Vd, HV, n, Vd, m); /* 3  O = A V */
    }
    arena_release(scratch, mark);
}

void cached_cross_attention(real *out, const real *q, const StepCache *cache, int layer, const StepRows *rows,
                            Arena *scratch) {
    int HK = cache->shape.heads * cache->shape.d_k, HV = cache->shape.heads * cache->shape.d_v;
    for (int r = 0, n; r < rows->count; r += n) {
        int s = step_sentence(cache, rows->slot[r]);
        for (n = 1; r + n < rows->count && step_sentence(cache, rows->slot[r + n]) == s;) n++;
        attend_source(out + (size_t)r * HV, q + (size_t)r * HK, cache, layer, rows->slot + r, n, scratch);
    }
}
