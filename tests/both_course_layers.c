/* The examples of docs/course, pages 1 to 4 and 7: single layers. `both_course_layers NAME` prints one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "model/loss.h"
#include "model/residual.h"
#include "model/softmax.h"
#include "model/tile.h"
#include "tests/support/course.h"
#include "training/optimizer.h"

/* Page 1: y = w x, logits (y, 0), loss -log p_0. One gradient, and one step of Adam. */

static double one_weight_loss(real w, real *dw) {
    real x = 2, y, dy, output_W[2] = {1, 0}, output_dW[2] = {0};
    int target = 0;
    Arena arena;
    arena_init(&arena, "one weight");
    Linear p = {.in = 1, .out = 1, .W = &w}, dp = {.in = 1, .out = 1, .W = dw};
    Linear output = {.in = 1, .out = 2, .W = output_W}, doutput = {.in = 1, .out = 2, .W = output_dW};
    LossActs a = loss_acts(1, 2, &arena);
    LossSums sums = {0};
    linear_forward(&y, &x, &p, 1);
    loss_forward(&sums, NULL, &a, &y, &target, &output, 0, 1);
    loss_backward(&dy, &doutput, &a, &y, &target, &output, 0, 1, 1);
    *dw = 0;
    linear_backward(NULL, &dp, &dy, &x, &p, 1);
    arena_free(&arena);
    return sums.nll;
}

static void print_one_weight(FILE *out) {
    real w = (real)0.5, dw, unused;
    double loss = one_weight_loss(w, &dw);
    course_number(out, "w", (double)w);
    course_number(out, "loss", loss);
    course_number(out, "dw", (double)dw);
    double h = 1.0 / 64, up = one_weight_loss(w + (real)h, &unused), down = one_weight_loss(w - (real)h, &unused);
    course_number(out, "loss at w + h", up);
    course_number(out, "loss at w - h", down);
    course_number(out, "difference / 2h", (up - down) / (2 * h));
    Param param = {.rows = 1, .cols = 1};
    Optimizer adam;
    optimizer_init(&adam, &(ConfigTrain){.adam_beta1 = 0.9, .adam_beta2 = 0.98, .adam_eps = 1e-9},
                   &(ParamTable){.param = &param, .count = 1, .total = 1});
    optimizer_update(&w, &adam, &dw, 1, 0.1, 1);
    optimizer_free(&adam);
    course_number(out, "w after Adam", (double)w);
    course_number(out, "loss after", one_weight_loss(w, &unused));
}

static void test_one_weight(void **state) {
    (void)state;
    course_check("docs/course/1-one-weight.md", &(CourseExample){"one-weight", print_one_weight}, 1);
}

/* Page 2: two rows, two inputs, three outputs. */
static void print_linear(FILE *out) {
    real x[] = {1, 2, 3, -1}, W[] = {1, 0, 2, 1, -1, 1}, b[] = {0, 1, 0}, y[6];
    real dy[] = {1, 0, 2, 0, 1, -1}, dx[4], dW[6] = {0}, db[3] = {0};
    Linear p = {.in = 2, .out = 3, .W = W, .b = b}, dp = {.in = 2, .out = 3, .W = dW, .b = db};
    linear_forward(y, x, &p, 2);
    linear_backward(dx, &dp, dy, x, &p, 2);
    course_matrix(out, "x [2,2]", x, 2, 2);
    course_matrix(out, "W [3,2]", W, 3, 2);
    course_matrix(out, "b [3]", b, 1, 3);
    course_matrix(out, "y [2,3]", y, 2, 3);
    course_matrix(out, "dy [2,3]", dy, 2, 3);
    course_matrix(out, "dx [2,2]", dx, 2, 2);
    course_matrix(out, "dW [3,2]", dW, 3, 2);
    course_matrix(out, "db [3]", db, 1, 3);
}

static void test_linear(void **state) {
    (void)state;
    course_check("docs/course/2-linear.md", &(CourseExample){"linear", print_linear}, 1);
}

/* Page 3: logits whose exponentials are 5, 3 and 2. */
static void print_softmax(FILE *out) {
    real z[TILE_COLS] = {log((real)5), log((real)3), log((real)2)}, y[TILE_COLS], dy[] = {1, 0, 0}, dz[3];
    softmax_forward(y, z, 3, TILE_COLS, 1);
    softmax_backward(dz, dy, y, 3, 1);
    course_matrix(out, "z", z, 1, 3);
    course_matrix(out, "y", y, 1, 3);
    course_matrix(out, "dy", dy, 1, 3);
    course_matrix(out, "dz", dz, 1, 3);
}

/* The same logits from a hidden state of one number: the target is class 1. */
static void print_loss(FILE *out, double smoothing) {
    real h = 1, dh, W[] = {log((real)5), log((real)3), log((real)2)}, dW[3] = {0};
    int target = 1;
    Arena arena;
    arena_init(&arena, "loss");
    Linear output = {.in = 1, .out = 3, .W = W}, doutput = {.in = 1, .out = 3, .W = dW};
    LossActs a = loss_acts(1, 3, &arena);
    LossSums sums = {0};
    loss_forward(&sums, NULL, &a, &h, &target, &output, smoothing, 1);
    loss_backward(&dh, &doutput, &a, &h, &target, &output, smoothing, 1, 1);
    course_number(out, "nll", sums.nll);
    course_number(out, "objective", sums.objective);
    course_matrix(out, "dz", a.e, 1, 3);
    course_matrix(out, "dW [3,1]", dW, 3, 1);
    course_number(out, "dh", (double)dh);
    arena_free(&arena);
}

static void print_loss_plain(FILE *out) { print_loss(out, 0); }
static void print_loss_smoothed(FILE *out) { print_loss(out, 0.3); }

static void test_softmax(void **state) {
    (void)state;
    const CourseExample examples[] = {
        {"softmax", print_softmax}, {"loss", print_loss_plain}, {"smoothed", print_loss_smoothed}};
    course_check("docs/course/3-softmax.md", examples, 3);
}

/* Page 4: mean 2, variance 4. */
static void print_layer_norm(FILE *out) {
    real x[] = {0, 0, 4, 4}, weight[] = {2, 1, 1, 1}, bias[] = {0, 0, 0, 1}, y[4];
    real dy[] = {1, 0, 0, 0}, dx[4], dweight[4] = {0}, dbias[4] = {0};
    LayerNorm p = {4, weight, bias}, dp = {4, dweight, dbias};
    LayerNormActs a;
    Arena arena;
    arena_init(&arena, "layer norm");
    layer_norm_forward(y, &a, x, &p, 1, &arena);
    layer_norm_backward(dx, &dp, dy, &a, &p, 1);
    course_matrix(out, "x", x, 1, 4);
    course_matrix(out, "weight", weight, 1, 4);
    course_matrix(out, "bias", bias, 1, 4);
    course_matrix(out, "mean", a.mean, 1, 1);
    course_matrix(out, "rstd", a.rstd, 1, 1);
    course_matrix(out, "y", y, 1, 4);
    course_matrix(out, "dy", dy, 1, 4);
    course_matrix(out, "dx", dx, 1, 4);
    course_matrix(out, "dweight", dweight, 1, 4);
    course_matrix(out, "dbias", dbias, 1, 4);
    arena_free(&arena);
}

static void test_layer_norm(void **state) {
    (void)state;
    course_check("docs/course/4-layer-norm.md", &(CourseExample){"layer-norm", print_layer_norm}, 1);
}

/* Page 7: the sublayer is f(in) = in / 2. */
static void print_residual(FILE *out, NormPlace place) {
    real x[] = {0, 0, 4, 4}, ones[] = {1, 1, 1, 1}, zeros[4] = {0}, f[4], y[4];
    real dy[] = {1, 0, 0, 0}, dx[4], df[4], din[4], dweight[4] = {0}, dbias[4] = {0};
    Residual p = {{4, ones, zeros}, place}, dp = {{4, dweight, dbias}, place};
    ResidualActs a;
    DropoutSite keep = {0};
    Arena arena;
    arena_init(&arena, "residual");
    const real *in = residual_enter(&a, x, &p, 1, &arena);
    for (int d = 0; d < 4; d++) f[d] = in[d] / 2;
    residual_leave(y, &a, x, f, &p, 1, &keep, &arena);
    course_matrix(out, "in", in, 1, 4);
    course_matrix(out, "f", f, 1, 4);
    course_matrix(out, "y", y, 1, 4);
    residual_leave_backward(dx, df, &dp, dy, &a, &p, 1, &keep);
    course_matrix(out, "past f", dx, 1, 4);
    for (int d = 0; d < 4; d++) din[d] = df[d] / 2;
    residual_enter_backward(dx, din, &dp, &a, &p, 1);
    course_matrix(out, "through f", din, 1, 4);
    course_matrix(out, "dx", dx, 1, 4);
    arena_free(&arena);
}

static void print_post(FILE *out) { print_residual(out, NORM_POST); }
static void print_pre(FILE *out) { print_residual(out, NORM_PRE); }

enum { STACK_WIDTH = 16, STACK_MOST = 12 };

/* Row i of the Hadamard matrix: entries 1 and -1, and every two rows orthogonal. All but row 0 have mean 0 and variance 1. */
static void hadamard_row(real row[STACK_WIDTH], int i) {
    for (int j = 0; j < STACK_WIDTH; j++) row[j] = __builtin_popcount((unsigned)(i & j)) % 2 ? -1 : 1;
}

/* The length, as a share of dy's, of what reaches x past `count` sublayers with fixed outputs f, orthogonal to x, to each
 * other and to dy. */
static double share_past(int count, NormPlace place, Arena *arena) {
    real ones[STACK_WIDTH], zeros[STACK_WIDTH] = {0}, dweight[STACK_WIDTH] = {0}, dbias[STACK_WIDTH] = {0};
    real dx[STACK_WIDTH], df[STACK_WIDTH], f[STACK_WIDTH], *x = arena_reals(arena, "x", 1, STACK_WIDTH);
    ResidualActs acts[STACK_MOST];
    DropoutSite keep = {0};
    hadamard_row(ones, 0);
    hadamard_row(x, 1);
    hadamard_row(dx, STACK_WIDTH - 1);
    Residual p = {{STACK_WIDTH, ones, zeros}, place}, dp = {{STACK_WIDTH, dweight, dbias}, place};
    for (int l = 0; l < count; l++) {
        real *y = arena_reals(arena, "y", 1, STACK_WIDTH);
        hadamard_row(f, l + 2);
        residual_leave(y, &acts[l], x, f, &p, 1, &keep, arena);
        x = y;
    }
    for (int l = count - 1; l >= 0; l--) residual_leave_backward(dx, df, &dp, dx, &acts[l], &p, 1, &keep);
    return sqrt(vec_sum_squares(dx, STACK_WIDTH) / STACK_WIDTH);
}

static void print_stack(FILE *out) {
    real sublayers[] = {1, 2, 4, 8, 12}, post[5], pre[5];
    Arena arena;
    arena_init(&arena, "stack");
    for (int i = 0; i < 5; i++) {
        post[i] = (real)share_past((int)sublayers[i], NORM_POST, &arena);
        pre[i] = (real)share_past((int)sublayers[i], NORM_PRE, &arena);
    }
    course_matrix(out, "sublayers", sublayers, 1, 5);
    course_matrix(out, "post", post, 1, 5);
    course_matrix(out, "pre", pre, 1, 5);
    arena_free(&arena);
}

static void test_residual(void **state) {
    (void)state;
    const CourseExample examples[] = {{"post", print_post}, {"pre", print_pre}, {"stack", print_stack}};
    course_check("docs/course/7-residuals.md", examples, 3);
}

/* The judge itself: it names page and line of a changed number, a missing line, an unknown and a missing block. */
static void print_two_lines(FILE *out) {
    course_number(out, "a", 1.25);
    course_number(out, "b", -0.00001);
}

static void assert_report(const char *text, const char *expected) {
    char *report = NULL;
    size_t size;
    FILE *out = open_memstream(&report, &size);
    course_differences(out, "page", text, &(CourseExample){"two", print_two_lines}, 1);
    fclose(out);
    assert_string_equal(report, expected);
    free(report);
}

#define A "a                   1.2500\n"
#define B "b                   0.0000\n"
static void test_judge(void **state) {
    (void)state;
    assert_report("Text\n<!-- computed: two -->\n```\n" A B "```\nmore\n", "");
    assert_report("<!-- computed: two -->\n```\na                   1.2501\n" B "```\n",
                  "page:3: two: the page says \"a                   1.2501\", the code computes "
                  "\"a                   1.2500\"\n");
    assert_report("<!-- computed: two -->\n```\n" A "```\n",
                  "page:4: two: the page says \"\", the code computes \"b                   0.0000\"\n");
    assert_report("<!-- computed: two -->\n```\n" A B "c\n```\n",
                  "page:5: two: the page says \"c\", the code computes \"\"\n");
    assert_report("<!-- computed: three -->\n```\n```\n",
                  "page:1: three: no example is called so\npage: 0 of 1 examples are shown\n");
    assert_report("<!-- computed: two -->\n", "page:1: two: no block follows\npage: 0 of 1 examples are shown\n");
}

int main(int argc, char **argv) {
    const CourseExample all[] = {
        {"one-weight", print_one_weight},
        {"linear", print_linear},
        {"softmax", print_softmax},
        {"loss", print_loss_plain},
        {"smoothed", print_loss_smoothed},
        {"layer-norm", print_layer_norm},
        {"post", print_post},
        {"pre", print_pre},
        {"stack", print_stack},
    };
    if (argc == 2) return course_print(all, sizeof all / sizeof all[0], argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge),   cmocka_unit_test(test_one_weight), cmocka_unit_test(test_linear),
        cmocka_unit_test(test_softmax), cmocka_unit_test(test_layer_norm), cmocka_unit_test(test_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
