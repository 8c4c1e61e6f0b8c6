#include "measuring/kernels.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/vec.h"
#include "model/activation.h"
#include "model/dropout.h"
#include "model/layer_norm.h"
#include "model/matmul.h"
#include "model/softmax.h"
#include "model/tile.h"
#include "training/optimizer.h"

/* Buffers that all loops share: rows as wide as the Tiny model, and a vocabulary. */
enum {
    N = 512,
    D = 128,
    V = 10000,
    VOCAB_ROWS = 32,
    LONG = 512,
    HEAD = 32,
    SHORT = 16,
    SIZE = N * 1024,
    ADAM = 1 << 20
};

typedef struct Buffers {
    real *x, *y, *z;                       /* [SIZE] */
    real *weight, *bias, *dweight, *dbias; /* [D] */
    real *mean, *rstd;                     /* [N] */
    uint64_t *row_key;                     /* [N] */
    real *parameters, *gradient;           /* [ADAM] */
    Optimizer adam;
} Buffers;

static real sink; /* of results that nobody reads, so that they are computed */

static void run_exp(Buffers *b) {
    for (int n = 0; n < VOCAB_ROWS; n++) sink += vec_exp_sum(b->y + n * V, b->x + n * V, 1, V);
}
static void run_max(Buffers *b) {
    for (int n = 0; n < VOCAB_ROWS; n++) sink += vec_max(b->x + n * V, V);
}
static void run_sum(Buffers *b) {
    for (int n = 0; n < VOCAB_ROWS; n++) sink += vec_sum(b->x + n * V, V);
}
static void run_softmax_short(Buffers *b) {
    for (int n = 0; n < N; n++) softmax_forward(b->y + n * SHORT, b->x + n * SHORT, SHORT - 2, SHORT, 1);
}
static void run_softmax_long(Buffers *b) {
    for (int n = 0; n < N; n++) softmax_forward(b->y + n * LONG, b->x + n * LONG, LONG - 2, LONG, 1);
}
static void run_softmax_backward_short(Buffers *b) {
    for (int n = 0; n < N; n++) softmax_backward(b->y + n * SHORT, b->x + n * SHORT, b->z + n * SHORT, SHORT, 1);
}
static void run_softmax_backward_long(Buffers *b) {
    for (int n = 0; n < N; n++) softmax_backward(b->y + n * LONG, b->x + n * LONG, b->z + n * LONG, LONG, 1);
}
static void run_norm_forward(Buffers *b) {
    LayerNorm norm = {D, b->weight, b->bias};
    layer_norm_forward(b->y, NULL, b->x, &norm, N, NULL);
}
static void run_norm_backward(Buffers *b) {
    LayerNorm norm = {D, b->weight, b->bias}, dnorm = {D, b->dweight, b->dbias};
    LayerNormActs acts = {b->x, b->mean, b->rstd};
    layer_norm_backward(b->y, &dnorm, b->z, &acts, &norm, N);
}
static void run_dropout(Buffers *b) {
    DropoutSite site = {b->row_key, 1, 1u << 30, (real)(4.0 / 3)};
    dropout_forward(b->y, b->x, N, D, &site);
}
static void run_relu(Buffers *b) { activation_forward(b->y, b->x, ACTIVATION_RELU, N, D); }
static void run_relu_backward(Buffers *b) { activation_backward(b->y, b->z, b->x, ACTIVATION_RELU, N, D); }
static void run_bias(Buffers *b) {
    for (int n = 0; n < N; n++) vec_add(b->y + n * D, b->bias, D);
}
static void run_adam(Buffers *b) { optimizer_update(b->parameters, &b->adam, b->gradient, 1, 1e-4, 1); }
static void run_transpose_short(Buffers *b) {
    for (int n = 0; n + SHORT <= N; n += SHORT) tile_transpose(b->y, SHORT, b->x + n * 3 * D, 3 * D, SHORT - 1, HEAD);
}
static void run_tile_short(Buffers *b) {
    for (int n = 0; n + SHORT <= N; n += SHORT)
        tile_matmul(b->y, SHORT, b->x + n * D, D, 1, b->z, SHORT, SHORT - 1, SHORT, HEAD);
}
static void run_tile_scores(Buffers *b) { tile_matmul(b->y, LONG, b->x, D, 1, b->z, LONG, 64, LONG, HEAD); }
static void run_tile_mix(Buffers *b) { tile_matmul(b->y, D, b->x, LONG, 1, b->z, 3 * D, 64, HEAD, LONG); }
static void run_tile_across(Buffers *b) { tile_matmul_add(b->y, D, b->x, 1, LONG, b->z, 3 * D, LONG, HEAD, 64); }
static void run_linear(Buffers *b) { matmul_nt(b->y, b->x, b->z, N, D, D); }
static void run_linear_blas(Buffers *b) { matmul_blas(b->y, b->x, b->z, N, D, D); }
static void run_linear_gradient(Buffers *b) { matmul_tn_add(b->y, b->x, b->z, D, D, N); }
static void run_sgemm(Buffers *b) { matmul_blas(b->y, b->x, b->z, N, N, N); }

static const struct {
    const char *name, *sizes;
    void (*run)(Buffers *);
    double elements;
} KERNELS[] = {
    {"exp and its sum", "rows of 10,000", run_exp, (double)VOCAB_ROWS *V},
    {"largest of a row", "rows of 10,000", run_max, (double)VOCAB_ROWS *V},
    {"sum of a row", "rows of 10,000", run_sum, (double)VOCAB_ROWS *V},
    {"softmax", "rows of 16", run_softmax_short, (double)N *SHORT},
    {"softmax", "rows of 512", run_softmax_long, (double)N *LONG},
    {"softmax backward", "rows of 16", run_softmax_backward_short, (double)N *SHORT},
    {"softmax backward", "rows of 512", run_softmax_backward_long, (double)N *LONG},
    {"layer norm", "512 x 128", run_norm_forward, (double)N *D},
    {"layer norm backward", "512 x 128", run_norm_backward, (double)N *D},
    {"dropout", "512 x 128", run_dropout, (double)N *D},
    {"relu", "512 x 128", run_relu, (double)N *D},
    {"relu backward", "512 x 128", run_relu_backward, (double)N *D},
    {"bias", "512 x 128", run_bias, (double)N *D},
    {"Adam", "1,048,576", run_adam, ADAM},
    {"transposition", "15 x 32", run_transpose_short, (double)N *HEAD},
    {"attention tile: Q K'", "15 x 16 x 32", run_tile_short, (double)(N / SHORT) * (SHORT - 1) * SHORT *HEAD},
    {"attention tile: Q K'", "64 x 512 x 32", run_tile_scores, 64.0 * LONG *HEAD},
    {"attention tile: A V", "64 x 32 x 512", run_tile_mix, 64.0 * LONG *HEAD},
    {"attention tile: A' dO", "512 x 32 x 64", run_tile_across, 64.0 * LONG *HEAD},
    {"linear layer: X W'", "512 x 128 x 128", run_linear, (double)N *D *D},
    {"the same by sgemm", "512 x 128 x 128", run_linear_blas, (double)N *D *D},
    {"linear layer: dY' X", "128 x 128 x 512", run_linear_gradient, (double)N *D *D},
    {"sgemm, for comparison", "512 cubed", run_sgemm, (double)N *N *N},
};

static void random_fill(real *x, size_t count, uint64_t seed) {
    Rng rng = {seed};
    for (size_t i = 0; i < count; i++) x[i] = (real)rng_uniform(&rng) - (real)0.5;
}

static real *reals(size_t count, uint64_t seed) {
    real *x = memory_alloc(count, sizeof(real), "buffers of the kernels");
    random_fill(x, count, seed);
    return x;
}

/* The best of several runs, of one call, repeated for about two milliseconds each: what else the machine does only adds. */
static double seconds_of(void (*run)(Buffers *), Buffers *b) {
    enum { RUNS = 9 };
    double best = (double)INFINITY;
    run(b);
    for (int r = 0; r < RUNS; r++) {
        double start = clock_thread_seconds(), now = start;
        int calls = 0;
        for (; now - start < 2e-3; now = clock_thread_seconds(), calls++) run(b);
        best = fmin(best, (now - start) / calls);
    }
    return best;
}

int kernels_measure(KernelTime *times) {
    enum { COUNT = sizeof KERNELS / sizeof *KERNELS };
    _Static_assert((int)COUNT <= (int)MOST_KERNELS, "raise MOST_KERNELS");
    Buffers b = {.x = reals(SIZE, 1),
                 .y = reals(SIZE, 2),
                 .z = reals(SIZE, 3),
                 .weight = reals(D, 4),
                 .bias = reals(D, 5),
                 .dweight = reals(D, 6),
                 .dbias = reals(D, 7),
                 .mean = reals(N, 8),
                 .rstd = reals(N, 9),
                 .row_key = memory_alloc(N, sizeof(uint64_t), "buffers of the kernels"),
                 .parameters = reals(ADAM, 10),
                 .gradient = reals(ADAM, 11)};
    for (int n = 0; n < N; n++) b.row_key[n] = hash64((uint64_t)n);
    optimizer_init(&b.adam, &(ConfigTrain){.adam_beta1 = 0.9, .adam_beta2 = 0.98, .adam_eps = 1e-9},
                   &(ParamTable){.total = ADAM});
    matmul_serial_blas();
    for (int k = 0; k < COUNT; k++)
        times[k] =
            (KernelTime){KERNELS[k].name, KERNELS[k].sizes, 1e9 * seconds_of(KERNELS[k].run, &b) / KERNELS[k].elements};
    optimizer_free(&b.adam);
    real *all[] = {b.x, b.y, b.z, b.weight, b.bias, b.dweight, b.dbias, b.mean, b.rstd, b.parameters, b.gradient};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) memory_free(all[i]);
    memory_free(b.row_key);
    return COUNT;
}
