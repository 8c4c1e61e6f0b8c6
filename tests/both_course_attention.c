/* The examples of docs/course, pages 5, 6 and 8: attention. `both_course_attention NAME` prints one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "model/attention.h"
#include "model/embedding.h"
#include "tests/support/course.h"

static const DropoutSite KEEP = {0};

/* Page 5: d_k = 4 and d_v = 2. Divided by sqrt(d_k), the scores of query 0 are ln 2, 0, 0; of query 1 0, ln 3, 0; of
 * query 2 their sum. */
typedef struct Core {
    real Q[3 * 4], K[3 * 4], V[3 * 2];
    AttentionCoreActs acts;
    real out[3 * 2];
} Core;

static const AttentionShape ONE_HEAD = {.heads = 1, .d_k = 4, .d_v = 2};

static void core_forward(Core *c, AttentionSpan span, Arena *arena) {
    *c = (Core){.Q = {2, 0, 0, 0, 0, 2, 0, 0, 2, 2, 0, 0}, .V = {4, 0, 0, 4, 4, 4}};
    c->K[0] = log((real)2), c->K[5] = log((real)3);
    attention_core_forward(c->out, &c->acts, (HeadRows){c->Q, 4}, (HeadRows){c->K, 4}, (HeadRows){c->V, 2}, ONE_HEAD,
                           &(AttentionSpans){1, &span}, &KEEP, arena);
}

/* The weights of one head without what pads their rows. */
static void print_map(FILE *out, const char *name, const real *weights, AttentionSpan span) {
    for (int i = 0; i < span.queries; i++)
        course_matrix(out, i == 0 ? name : "", weights + i * attention_weights_stride(&span), 1, span.keys);
}

static void print_maps(FILE *out) {
    const char *const names[] = {"self", "masked", "cross"};
    const AttentionSpan spans[] = {{0, 3, 0, 3, false}, {0, 3, 0, 3, true}, {0, 2, 0, 3, false}};
    Arena arena;
    arena_init(&arena, "maps");
    for (int i = 0; i < 3; i++) {
        Core c;
        core_forward(&c, spans[i], &arena);
        print_map(out, names[i], c.acts.weights, spans[i]);
    }
    arena_free(&arena);
}

static void print_core(FILE *out) {
    AttentionSpan span = {0, 2, 0, 3, false};
    real dout[] = {1, 0, 0, 1}, dq[2 * 4], dk[3 * 4], dv[3 * 2];
    Arena arena;
    Core c;
    arena_init(&arena, "core");
    core_forward(&c, span, &arena);
    attention_core_backward((HeadRowsGrad){dq, 4}, (HeadRowsGrad){dk, 4}, (HeadRowsGrad){dv, 2}, dout, &c.acts,
                            ONE_HEAD, &(AttentionSpans){1, &span}, &KEEP, &arena);
    course_matrix(out, "Q [2,4]", c.Q, 2, 4);
    course_matrix(out, "K [3,4]", c.K, 3, 4);
    course_matrix(out, "V [3,2]", c.V, 3, 2);
    print_map(out, "A [2,3]", c.acts.weights, span);
    course_matrix(out, "O [2,2]", c.out, 2, 2);
    course_matrix(out, "dO [2,2]", dout, 2, 2);
    course_matrix(out, "dV [3,2]", dv, 3, 2);
    course_matrix(out, "dQ [2,4]", dq, 2, 4);
    course_matrix(out, "dK [3,4]", dk, 3, 4);
    arena_free(&arena);
}

static void test_attention(void **state) {
    (void)state;
    const CourseExample examples[] = {{"maps", print_maps}, {"core", print_core}};
    course_check("docs/course/5-attention.md", examples, 2);
}

/* Page 6: two heads of one dimension each; all projections are the identity but the last. */
static void print_heads(FILE *out) {
    real x_q[] = {log((real)3), 0}, x_kv[] = {1, 0, 0, 1}, y[2], dy[] = {1, 0}, dx_q[2], dx_kv[4];
    real slab[24] = {0}, gradient[24] = {0}, identity[] = {1, 0, 0, 1}, out_W[] = {1, 1, 1, -1};
    AttentionSpan span = {0, 1, 0, 2, false};
    AttentionSpans spans = {1, &span};
    Attention p, dp;
    AttentionActs a;
    Arena arena;
    arena_init(&arena, "heads");
    attention_bind(&p, &(ParamBinder){.slab = slab}, "attention", (AttentionShape){2, 1, 1}, 2, 2);
    attention_bind(&dp, &(ParamBinder){.slab = gradient}, "attention", (AttentionShape){2, 1, 1}, 2, 2);
    memcpy(p.q_proj.W, identity, sizeof identity);
    memcpy(p.k_proj.W, identity, sizeof identity);
    memcpy(p.v_proj.W, identity, sizeof identity);
    memcpy(p.out_proj.W, out_W, sizeof out_W);
    attention_forward(y, &a, x_q, x_kv, &p, 1, 2, &spans, &KEEP, &arena);
    attention_backward(dx_q, dx_kv, &dp, dy, &a, &p, 1, 2, &spans, &KEEP, &arena);
    course_matrix(out, "x_q [1,2]", x_q, 1, 2);
    course_matrix(out, "x_kv [2,2]", x_kv, 2, 2);
    print_map(out, "A of head 0", a.core.weights, span);
    print_map(out, "A of head 1", a.core.weights + attention_weights_stride(&span), span);
    course_matrix(out, "context [1,2]", a.context, 1, 2);
    course_matrix(out, "y [1,2]", y, 1, 2);
    course_matrix(out, "dy [1,2]", dy, 1, 2);
    course_matrix(out, "dx_q [1,2]", dx_q, 1, 2);
    course_matrix(out, "dx_kv [2,2]", dx_kv, 2, 2);
    course_matrix(out, "dW_K [2,2]", dp.k_proj.W, 2, 2);
    course_matrix(out, "db_K [2]", dp.k_proj.b, 1, 2);
    course_matrix(out, "dW_V [2,2]", dp.v_proj.W, 2, 2);
    arena_free(&arena);
}

static void test_heads(void **state) {
    (void)state;
    course_check("docs/course/6-multi-head.md", &(CourseExample){"heads", print_heads}, 1);
}

/* Page 8: the cross-attentions of two decoder layers over one memory; a single head, and widths 1 and 2. */

typedef struct CrossLayer {
    real W_k[2], W_v[2];
} CrossLayer;

/* Adds the layer's share to dmemory [2,2]; prints its two parts. */
static void print_share(FILE *out, real *dmemory, const real *memory, const CrossLayer *layer, int l) {
    static const AttentionShape shape = {1, 1, 1};
    real x = log((real)3), y, dy = 1, dx, dx_kv[4], dq, dk[2], dv[2], through_keys[4], through_values[4];
    real slab[10] = {0}, gradient[10] = {0};
    AttentionSpan span = {0, 1, 0, 2, false};
    AttentionSpans spans = {1, &span};
    Attention p, dp;
    AttentionActs a;
    Arena arena;
    char name[32];
    arena_init(&arena, "cross-attention");
    attention_bind(&p, &(ParamBinder){.slab = slab}, "encoder_attn", shape, 1, 2);
    attention_bind(&dp, &(ParamBinder){.slab = gradient}, "encoder_attn", shape, 1, 2);
    *p.q_proj.W = *p.out_proj.W = 1;
    memcpy(p.k_proj.W, layer->W_k, sizeof layer->W_k);
    memcpy(p.v_proj.W, layer->W_v, sizeof layer->W_v);
    attention_forward(&y, &a, &x, memory, &p, 1, 2, &spans, &KEEP, &arena);

    /* dcontext is dy: out_proj is the number 1. */
    attention_core_backward((HeadRowsGrad){&dq, 1}, (HeadRowsGrad){dk, 1}, (HeadRowsGrad){dv, 1}, &dy, &a.core, shape,
                            &spans, &KEEP, &arena);
    linear_backward(through_keys, &dp.k_proj, dk, memory, &p.k_proj, 2);
    linear_backward(through_values, &dp.v_proj, dv, memory, &p.v_proj, 2);
    snprintf(name, sizeof name, "%d through keys", l);
    course_matrix(out, name, through_keys, 2, 2);
    snprintf(name, sizeof name, "%d through val.", l);
    course_matrix(out, name, through_values, 2, 2);
    attention_backward(&dx, dx_kv, &dp, &dy, &a, &p, 1, 2, &spans, &KEEP, &arena);
    snprintf(name, sizeof name, "%d both", l);
    course_matrix(out, name, dx_kv, 2, 2);
    vec_add(dmemory, dx_kv, 4);
    arena_free(&arena);
}

static void print_memory(FILE *out) {
    const real memory[] = {1, 0, 0, 1};
    const CrossLayer layer[] = {{{1, 0}, {0, 4}}, {{0, 1}, {2, 0}}};
    real dmemory[4] = {0};
    for (int l = 1; l >= 0; l--) print_share(out, dmemory, memory, &layer[l], l);
    course_matrix(out, "dmemory", dmemory, 2, 2);
}

static void print_positions(FILE *out) {
    real row[3 * 4];
    for (int i = 0; i < 3; i++) position_row(row + i * 4, 10 * i, 4);
    course_matrix(out, "0, 10, 20", row, 3, 4);
}

static void test_memory(void **state) {
    (void)state;
    const CourseExample examples[] = {{"positions", print_positions}, {"memory", print_memory}};
    course_check("docs/course/8-encoder-decoder.md", examples, 2);
}

int main(int argc, char **argv) {
    const CourseExample all[] = {
        {"maps", print_maps},           {"core", print_core},     {"heads", print_heads},
        {"positions", print_positions}, {"memory", print_memory},
    };
    if (argc == 2) return course_print(all, sizeof all / sizeof all[0], argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
