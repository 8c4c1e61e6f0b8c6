/* The examples of docs/course, pages 9 and 10: Adam, the schedule, dropout. `both_course_training NAME` prints one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "model/dropout.h"
#include "tests/support/course.h"
#include "training/optimizer.h"
#include "training/schedule.h"

/* Page 9: two parameters, the gradient of the second a thousandth of the first's. */
static void print_adam(FILE *out) {
    const real gradient[3][2] = {{2, (real)0.002}, {2, (real)0.002}, {-4, (real)-0.004}};
    real p[2] = {1, 1}, table[3][4];
    Param param = {.rows = 1, .cols = 2};
    Optimizer adam;
    optimizer_init(&adam, &(ConfigTrain){.adam_beta1 = 0.9, .adam_beta2 = 0.98, .adam_eps = 1e-9},
                   &(ParamTable){.param = &param, .count = 1, .total = 2});
    for (int u = 0; u < 3; u++) {
        optimizer_update(p, &adam, gradient[u], 1, 0.1, 1);
        memcpy(table[u], (real[]){gradient[u][0], adam.m[0], adam.v[0], p[0]}, sizeof table[u]);
    }
    course_matrix(out, "g, m, v, p", table[0], 3, 4);
    course_matrix(out, "second p", &p[1], 1, 1);
    optimizer_free(&adam);
}

/* lr = 1, warmup = 4, updates = 16. */
static void print_schedule(FILE *out) {
    const char *const names[] = {"inverse_sqrt", "linear", "constant"};
    const ConfigSchedule schedules[] = {CONFIG_SCHEDULE_INVERSE_SQRT, CONFIG_SCHEDULE_LINEAR, CONFIG_SCHEDULE_CONSTANT};
    real update[] = {1, 2, 4, 9, 16}, rate[5];
    course_matrix(out, "update", update, 1, 5);
    for (int i = 0; i < 3; i++) {
        const Config config = {.train = {.schedule = schedules[i], .lr = 1, .warmup = 4, .updates = 16}};
        for (int u = 0; u < 5; u++) rate[u] = (real)schedule_lr(&config, 0, (int64_t)update[u]);
        course_matrix(out, names[i], rate, 1, 5);
    }
}

static void test_adam(void **state) {
    (void)state;
    const CourseExample examples[] = {{"adam", print_adam}, {"schedule", print_schedule}};
    course_check("docs/course/9-adam.md", examples, 2);
}

/* Page 10. The site of the first layer behind self-attention, in the first sentence's rows. */

typedef struct Dropped {
    Dropout drop;
    DropoutSite site;
} Dropped;

static Dropped dropped(double rate, int rows, int64_t update, Arena *arena) {
    const DropoutRates rates = {.residual = rate, .attention = rate};
    const Packed packed = {1, (int[]){0, rows}};
    Dropped d = {
        .drop = dropout_draw(&(DropoutDraw){.seed = 1, .update = update}, &rates, 0, &packed, (int64_t[]){0}, arena)};
    d.site = dropout_site(&d.drop, 0, DROPOUT_SELF_RESIDUAL);
    return d;
}

static void print_dropout(FILE *out) {
    real x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], dy[] = {1, 1, 1, 1, 1, 1, 1, 1}, dx[8];
    Arena arena;
    arena_init(&arena, "dropout");
    course_matrix(out, "x", x, 1, 8);
    for (int update = 1; update <= 2; update++) {
        Dropped d = dropped(0.5, 1, update, &arena);
        dropout_forward(y, x, 1, 8, &d.site);
        dropout_backward(dx, dy, 1, 8, &d.site);
        course_matrix(out, update == 1 ? "y, update 1" : "y, update 2", y, 1, 8);
        course_matrix(out, update == 1 ? "dx, update 1" : "dx, update 2", dx, 1, 8);
    }
    arena_free(&arena);
}

/* Of a million ones: mean, and mean square, after dropout. */
static void print_moments(FILE *out) {
    enum { ROWS = 1000, COLS = 1000 };
    const double rates[] = {0.1, 0.3, 0.5};
    real rate[3], mean[3], square[3];
    Arena arena;
    arena_init(&arena, "dropout");
    for (int i = 0; i < 3; i++) {
        ArenaMark mark = arena_mark(&arena);
        real *x = arena_reals(&arena, "x", ROWS, COLS);
        Dropped d = dropped(rates[i], ROWS, 1, &arena);
        vec_fill(x, 1, ROWS * COLS);
        dropout_forward(x, x, ROWS, COLS, &d.site);
        double sum = 0;
        for (int j = 0; j < ROWS * COLS; j++) sum += (double)x[j];
        rate[i] = (real)rates[i];
        mean[i] = (real)(sum / (ROWS * COLS));
        square[i] = (real)(vec_sum_squares(x, ROWS * COLS) / (ROWS * COLS));
        arena_release(&arena, mark);
    }
    course_matrix(out, "rate", rate, 1, 3);
    course_matrix(out, "mean", mean, 1, 3);
    course_matrix(out, "mean square", square, 1, 3);
    arena_free(&arena);
}

static void test_dropout(void **state) {
    (void)state;
    const CourseExample examples[] = {{"dropout", print_dropout}, {"moments", print_moments}};
    course_check("docs/course/10-dropout.md", examples, 2);
}

int main(int argc, char **argv) {
    const CourseExample all[] = {
        {"adam", print_adam}, {"schedule", print_schedule}, {"dropout", print_dropout}, {"moments", print_moments}};
    if (argc == 2) return course_print(all, sizeof all / sizeof all[0], argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_dropout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
