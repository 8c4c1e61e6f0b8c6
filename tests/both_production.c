/* The gradient of a whole piece at the sizes of real training, where every block and strip is full: figures that the
 * double build wrote are met by both builds. To write them again, after a change that is meant to change them:
 *
 *     build/double/tests/both_production write >tests/reference/tiny_gradient.txt */
#include "tests/support/probe.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "model/matmul.h"
#include "tests/support/small_model.h"

#define FIGURES "tests/reference/tiny_gradient.txt"

/* Measured in float: 2e-6. */
static const double TOLERANCE = REAL_IS_DOUBLE ? 1e-12 : 1e-5;
static const double SMOOTHING = 0.1;
static const DropoutDraw DRAW = {.seed = 3, .update = 17};
enum { SENTENCES = 37, SAMPLES = 4 };

/* With this seed no input of a relu is nearer to 0 than 5.9e-6, so that float and double agree on which side it is. */
enum { SEED = 45 };

/* The Tiny model of Wu et al. 2021 for Multi30k. */
static const ModelConfig TINY = {.source_vocab = 10000,
                                 .target_vocab = 10000,
                                 .encoder_width = 128,
                                 .decoder_width = 128,
                                 .encoder_layers = 4,
                                 .decoder_layers = 4,
                                 .heads = 4,
                                 .d_k = 32,
                                 .d_v = 32,
                                 .ffn_dim = 256,
                                 .norm = NORM_POST,
                                 .activation = ACTIVATION_RELU,
                                 .tie = TIE_ALL,
                                 .qkv_gain = 1,
                                 .dropout = {.embedding = 0.3, .residual = 0.3, .attention = 0.3, .activation = 0.3}};

/* Of one tensor's gradient. */
typedef struct Figures {
    char name[96];
    double norm;
    size_t index[SAMPLES]; /* the largest element, then some others */
    double value[SAMPLES];
} Figures;

/* A piece of about 512 target rows, with lengths like those of Multi30k, a one-word sentence and a long one. */
static Batch draw_piece(void) {
    int source[SENTENCES] = {2, 61}, target[SENTENCES] = {1, 67};
    Rng rng = {hash64(SEED)};
    for (int s = 2; s < SENTENCES; s++) {
        source[s] = 7 + (int)(rng_below(&rng, 7) + rng_below(&rng, 9));
        target[s] = source[s] - 2 + (int)rng_below(&rng, 4);
    }
    return small_batch(&TINY, SENTENCES, source, target, SEED);
}

/* Norms and biases as training would leave them: 1 and 0 would hide what they are multiplied by and added to. */
static void stir_vectors(SmallModel *m) {
    Rng rng = {hash64(SEED + 1)};
    for (int i = 0; i < m->table.count; i++)
        for (size_t j = 0; m->table.param[i].rank == 1 && j < param_size(&m->table.param[i]); j++)
            m->parameters[m->table.param[i].offset + j] += (real)(0.05 * rng_normal(&rng));
}

static Figures figures_of(const Param *p, const real *slab) {
    const real *g = slab + p->offset;
    Figures f = {.norm = 0};
    snprintf(f.name, sizeof f.name, "%s", p->name);
    for (size_t j = 0; j < param_size(p); j++) {
        f.norm += (double)g[j] * (double)g[j];
        if (fabs((double)g[j]) > fabs((double)g[f.index[0]])) f.index[0] = j;
    }
    f.norm = sqrt(f.norm);
    for (size_t i = 1; i < SAMPLES; i++) f.index[i] = hash_fold(p->offset, i) % param_size(p);
    for (int i = 0; i < SAMPLES; i++) f.value[i] = (double)g[f.index[i]];
    return f;
}

static void write_figures(const SmallModel *m, LossSums sums) {
    printf("%.17g %.17g\n", sums.objective, sums.nll);
    for (int i = 0; i < m->table.count; i++) {
        Figures f = figures_of(&m->table.param[i], m->gradients);
        printf("%s %.17g", f.name, f.norm);
        for (int s = 0; s < SAMPLES; s++) printf(" %zu %.17g", f.index[s], f.value[s]);
        printf("\n");
    }
}

static void read_figures(Figures *f, FILE *file) {
    assert_int_equal(fscanf(file, "%95s %lf", f->name, &f->norm), 2);
    for (int s = 0; s < SAMPLES; s++) assert_int_equal(fscanf(file, "%zu %lf", &f->index[s], &f->value[s]), 2);
}

/* The gradient of every k_proj.bias is zero in theory. */
static bool is_key_bias(const char *name) {
    return strlen(name) > 11 && !strcmp(name + strlen(name) - 11, "k_proj.bias");
}

/* Returns the worst difference: of the norm, relatively, and of elements, relative to the largest. */
static double compare(const Figures *right, const Param *p, const real *slab) {
    const real *g = slab + p->offset;
    double norm = figures_of(p, slab).norm, worst = fabs(norm - right->norm) / right->norm;
    assert_string_equal(right->name, p->name);
    if (is_key_bias(p->name)) return norm;
    for (int s = 0; s < SAMPLES; s++) {
        assert_true(right->index[s] < param_size(p));
        worst = fmax(worst, fabs((double)g[right->index[s]] - right->value[s]) / fabs(right->value[0]));
    }
    return worst;
}

static LossSums gradient(SmallModel *m) {
    small_model_init(m, &TINY, SEED);
    stir_vectors(m);
    Batch piece = draw_piece();
    double scale = 1.0 / packed_rows(&piece.target);
    LossSums sums = transformer_gradient(&m->dp, &piece, &m->p, &m->positions, SMOOTHING, scale, &DRAW, &m->arena);
    small_batch_free(&piece);
    return sums;
}

static void test_gradient_is_that_of_double(void **state) {
    (void)state;
    SmallModel m;
    LossSums sums = gradient(&m);
    double objective, nll, worst = 0;
    FILE *file = fopen(FIGURES, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lf %lf", &objective, &nll), 2);
    assert_near(sums.objective, objective, TOLERANCE);
    assert_near(sums.nll, nll, TOLERANCE);
    for (int i = 0; i < m.table.count; i++) {
        Figures right;
        read_figures(&right, file);
        double difference = compare(&right, &m.table.param[i], m.gradients);
        if (!(difference <= TOLERANCE)) print_error("%s: %.2e\n", right.name, difference);
        worst = difference <= worst ? worst : difference;
    }
    print_message("  %lld target rows, worst %.1e\n", (long long)sums.tokens, worst);
    assert_below(worst, TOLERANCE);
    fclose(file);
    small_model_free(&m);
}

int main(int argc, char **argv) {
    matmul_serial_blas();
    if (REAL_IS_DOUBLE && argc == 2 && strcmp(argv[1], "write") == 0) {
        SmallModel m;
        LossSums sums = gradient(&m);
        write_figures(&m, sums);
        small_model_free(&m);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient_is_that_of_double)};
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
