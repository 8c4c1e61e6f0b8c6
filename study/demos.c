#include "study/demos.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/vec.h"
#include "model/softmax.h"

enum { QUERIES = 257, KEYS = 64, MOST_D_K = 4096, MOST_SHOWN = 12 };

static void draw(real *x, size_t count, Rng *rng) {
    for (size_t i = 0; i < count; i++) x[i] = (real)rng_normal(rng);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Adds what the softmax of one row of scores has to tell. Returns the norm of the gradient of what it has read. */
static double add_row(ScaleRow *sum, const real *scores, real scale, Rng *rng) {
    real a[KEYS], da[KEYS], ds[KEYS];
    softmax_forward(a, scores, KEYS, KEYS, scale);
    draw(da, KEYS, rng);
    softmax_backward(ds, da, a, KEYS, 1); /* 1: of the scores as the softmax sees them */
    for (int j = 0; j < KEYS; j++) sum->entropy -= a[j] > 0 ? (double)(a[j] * log(a[j])) : 0;
    sum->largest += (double)vec_max(a, KEYS);
    sum->scores += (double)(scale * scale) * vec_sum_squares(scores, KEYS);
    return sqrt(vec_sum_squares(ds, KEYS));
}

ScaleRow demo_scale_row(int d_k, bool scaled) {
    Rng rng = {hash64((uint64_t)d_k)};
    size_t width = (size_t)d_k;
    real *q = memory_alloc(width, sizeof(real), "queries"), *k = memory_alloc(KEYS * width, sizeof(real), "keys");
    real scores[KEYS], scale = scaled ? 1 / sqrt((real)d_k) : 1;
    double gradient[QUERIES];
    ScaleRow sum = {.d_k = d_k};
    draw(k, KEYS * width, &rng);
    for (int i = 0; i < QUERIES; i++) {
        draw(q, width, &rng);
        for (int j = 0; j < KEYS; j++) scores[j] = vec_dot(q, k + (size_t)j * width, d_k);
        gradient[i] = add_row(&sum, scores, scale, &rng);
    }
    memory_free(q);
    memory_free(k);
    qsort(gradient, QUERIES, sizeof *gradient, ascending);
    return (ScaleRow){d_k, sqrt(sum.scores / (QUERIES * KEYS)), sum.entropy / QUERIES, sum.largest / QUERIES,
                      gradient[QUERIES / 2]};
}

void demo_scale(FILE *out) {
    fprintf(out,
            "Why attention divides its scores by sqrt(d_k). %d queries, %d keys, all numbers normal with\n"
            "deviation 1. A score q k' is a sum of d_k products, so its deviation is sqrt(d_k), and the\n"
            "softmax of large scores is nearly one-hot: the entropy of the weights goes to 0, and with it the\n"
            "gradient that comes back through the softmax, a_j (da_j - sum_l a_l da_l). Divided by sqrt(d_k),\n"
            "scores keep deviation 1 and nothing depends on d_k (Vaswani et al. 2017, section 3.2.1).\n\n"
            "                  without the scale                      with 1/sqrt(d_k)\n"
            "   d_k  scores   entropy  largest  |gradient|    scores   entropy  largest  |gradient|\n",
            QUERIES, KEYS);
    for (int d_k = 1; d_k <= MOST_D_K; d_k *= 4) {
        ScaleRow without = demo_scale_row(d_k, false), with = demo_scale_row(d_k, true);
        fprintf(out, "  %4d  %6.2f  %8.4f  %7.4f  %10.2e    %6.2f  %8.4f  %7.4f  %10.2e\n", d_k, without.scores,
                without.entropy, without.largest, without.gradient, with.scores, with.entropy, with.largest,
                with.gradient);
    }
    fprintf(out,
            "\nEntropy in nats, at most log %d = %.4f; largest weight: means over the queries; gradient: median.\n",
            KEYS, log((double)KEYS));
}

void demo_change_target(double *largest, const ModelCheck *c, int sentence, int changed) {
    ArenaMark mark = arena_mark(c->arena);
    const Batch *b = c->batch;
    int N = packed_rows(&b->target), V = c->p->output.out, start = b->target.offset[sentence],
        words = V - ID_FIRST_BYTE;
    int *id = &b->target_in[start + changed], before = *id;
    real *logits = arena_reals(c->arena, "logits", N, V), *moved = arena_reals(c->arena, "logits", N, V);
    transformer_logits(logits, b, c->p, c->positions, c->arena);
    *id = ID_FIRST_BYTE + (before - ID_FIRST_BYTE + 1 + words) % words;
    transformer_logits(moved, b, c->p, c->positions, c->arena);
    *id = before;
    for (int t = 0; t < packed_length(&b->target, sentence); t++) {
        const real *x = logits + (size_t)(start + t) * (size_t)V, *y = moved + (size_t)(start + t) * (size_t)V;
        largest[t] = 0;
        for (int v = 0; v < V; v++)
            if (!(fabs((double)(y[v] - x[v])) <= largest[t])) largest[t] = fabs((double)(y[v] - x[v]));
    }
    arena_release(c->arena, mark);
}

static int longest_target(const Batch *b) {
    int longest = 0;
    for (int s = 1; s < b->target.sentences; s++)
        if (packed_length(&b->target, s) > packed_length(&b->target, longest)) longest = s;
    return longest;
}

bool demo_causality(FILE *out, const ModelCheck *c) {
    int sentence = longest_target(c->batch), T = packed_length(&c->batch->target, sentence);
    int shown = T < MOST_SHOWN ? T : MOST_SHOWN;
    double *largest = memory_alloc((size_t)T, sizeof *largest, "differences");
    bool causal = true;
    fprintf(out,
            "Causality. The decoder reads its own target, shifted by one; position t may see tokens 1..t and\n"
            "no later one, or it could copy what it has to predict. One token of a target of %d is replaced\n"
            "by another; the table has the largest change of a logit at each position, '.' where not one bit\n"
            "changed. Masked self-attention makes it a triangle: all to the left of the changed token stays\n"
            "as it was.\n\n"
            "  token  position\n"
            "        ",
            T);
    for (int t = 0; t < shown; t++) fprintf(out, " %7d", t + 1);
    fputs("\n", out);
    for (int changed = 0; changed < shown; changed++) {
        demo_change_target(largest, c, sentence, changed);
        fprintf(out, "  %5d ", changed + 1);
        for (int t = 0; t < shown; t++) {
            if (largest[t] == 0)
                fputs("       .", out);
            else
                fprintf(out, " %7.1e", largest[t]);
            causal = causal && (t >= changed) == (largest[t] != 0);
        }
        fputs("\n", out);
    }
    fputs(causal ? "\npassed: no token changes anything before it, and each changes all from its place on\n"
                 : "\nFAILED: a token changes what stands before it, or nothing behind it\n",
          out);
    memory_free(largest);
    return causal;
}
