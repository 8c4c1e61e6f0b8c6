/* Gradients at the embeddings, as the trace and saliency have them, against central differences. */
#include "tests/support/probe.h"

#include <math.h>

#include "base/memory.h"
#include "study/saliency.h"
#include "study/trace.h"
#include "tests/support/small_model.h"

typedef struct Fixture {
    SmallModel m;
    Batch batch;
    int S, T;
} Fixture;

static void for_each_model(void (*check)(Fixture *f)) {
    for (int norm = NORM_POST; norm <= NORM_PRE; norm++) {
        ModelConfig config = small_config((NormPlace)norm, ACTIVATION_GELU, norm == NORM_PRE ? TIE_ALL : TIE_NONE);
        Fixture f = {.S = 5, .T = 4};
        small_model_init(&f.m, &config, 2);
        small_model_stir(&f.m, 3);
        f.batch = small_batch(&config, 1, &f.S, &f.T, 4);
        check(&f);
        small_batch_free(&f.batch);
        small_model_free(&f.m);
    }
}

static double log_p_of(Fixture *f, int t) {
    real nll[16];
    transformer_loss(nll, &f->batch, &f->m.p, &f->m.positions, 0, NULL, &f->m.arena);
    double sum = 0;
    for (int n = 0; n < f->T; n++) sum += t < 0 || n == t ? -(double)nll[n] : 0;
    return sum;
}

/* The derivative of log p(y_t) (t < 0: of all) with respect to a value that is read in every pass. */
static double numeric(Fixture *f, real *value, int t) {
    const double h = REAL_IS_DOUBLE ? 1e-5 : 1e-2;
    real x = *value;
    *value = (real)((double)x + h);
    double above = log_p_of(f, t);
    *value = (real)((double)x - h);
    double below = log_p_of(f, t);
    *value = x;
    return (above - below) / (2 * h);
}

/* Positions are added to the embeddings, so moving the table of a side moves what its first layer reads. */
static void check_embedding(Fixture *f, Positions *positions, const TraceTensor *d) {
    for (int i = 0; i < d->rows * d->cols; i++) {
        double n = -numeric(f, &positions->table[i], -1), a = (double)d->values[i];
        assert_true(fabs(n - a) <= (REAL_IS_DOUBLE ? 1e-7 : 5e-3) * (1 + fabs(a)));
    }
}

static void check_embeddings(Fixture *f) {
    Trace trace;
    trace_run(&trace, &f->m.dp, &f->batch, &f->m.p, &f->m.positions);
    check_embedding(f, &f->m.positions.source, trace_find(&trace, "encoder.embedding.grad"));
    check_embedding(f, &f->m.positions.target, trace_find(&trace, "decoder.embedding.grad"));
    trace_free(&trace);
}

static void test_gradients_at_the_embeddings(void **state) {
    (void)state;
    for_each_model(check_embeddings);
}

static void check_saliency(Fixture *f) {
    int D = f->m.p.config.encoder_width;
    real *saliency = memory_alloc((size_t)f->S * (size_t)f->T, sizeof *saliency, "saliency");
    saliency_run(saliency, &f->batch, &f->m.p, &f->m.positions);
    for (int t = 0; t < f->T; t++)
        for (int s = 0; s < f->S; s++) {
            double sum = 0;
            for (int d = 0; d < D; d++)
                sum += numeric(f, &f->m.positions.source.table[s * D + d], t) *
                       (double)f->m.p.encoder.embedding.E[f->batch.source_ids[s] * D + d] * sqrt((double)D);
            assert_true(fabs(sum - (double)saliency[t * f->S + s]) <= (REAL_IS_DOUBLE ? 1e-6 : 2e-2) * (1 + fabs(sum)));
        }
    memory_free(saliency);
}

static void test_saliency(void **state) {
    (void)state;
    for_each_model(check_saliency);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_at_the_embeddings),
        cmocka_unit_test(test_saliency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
