#include "study/trace.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/matmul.h"
#include "study/trace_watch.h"

/* Of [1, kept] attention weights, makes [H queries, keys]: the rows of the heads one below the other, without padding. */
static void unpack_weights(TraceTensor *t, const Batch *b, int heads) {
    bool cross = strstr(t->name, "encoder_attn") != NULL, decoder = strncmp(t->name, "decoder", 7) == 0;
    int S = packed_rows(&b->source), T = packed_rows(&b->target);
    AttentionSpan span = {.queries = decoder ? T : S, .keys = decoder && !cross ? T : S};
    int stride = attention_weights_stride(&span);
    assert((size_t)t->cols == (size_t)heads * (size_t)span.queries * (size_t)stride);
    t->rows = heads * span.queries;
    t->cols = span.keys;
    for (int i = 0; i < t->rows; i++)
        memmove(t->values + (size_t)i * (size_t)t->cols, t->values + (size_t)i * (size_t)stride,
                (size_t)t->cols * sizeof(real));
}

/* The loss goes by blocks of classes, one behind the other, each [C, width]: makes [C, V] of them. */
static void unpack_classes(TraceTensor *t) {
    real *rows = memory_alloc((size_t)t->rows * (size_t)t->cols, sizeof(real), "trace");
    for (int first = 0; first < t->cols; first += LOSS_BLOCK) {
        int width = t->cols - first < LOSS_BLOCK ? t->cols - first : LOSS_BLOCK;
        const real *block = t->values + (size_t)first * (size_t)t->rows;
        for (int n = 0; n < t->rows; n++)
            memcpy(rows + (size_t)n * (size_t)t->cols + first, block + (size_t)n * (size_t)width,
                   (size_t)width * sizeof(real));
    }
    memory_free(t->values);
    t->values = rows;
}

/* Columns from .. from+W->out-1 of d [M, cols] times W: what these give of the gradient of the layer's input. */
static TraceTensor share(const TraceTensor *d, int from, const Linear *W, const char *name, const char *formula) {
    TraceTensor t = {.formula = formula,
                     .function = "attention_backward",
                     .file = "model/attention.c",
                     .is_gradient = true,
                     .rows = d->rows,
                     .cols = W->in};
    real *part = memory_alloc((size_t)d->rows * (size_t)W->out, sizeof(real), "trace");
    for (int n = 0; n < d->rows; n++)
        memcpy(part + (size_t)n * (size_t)W->out, d->values + (size_t)n * (size_t)d->cols + from,
               (size_t)W->out * sizeof(real));
    t.values = memory_alloc((size_t)t.rows * (size_t)t.cols, sizeof(real), "trace");
    matmul_nn(t.values, part, W->W, t.rows, W->in, W->out);
    memory_free(part);
    snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

static void insert(Trace *t, int place, TraceTensor tensor) {
    t->tensor = memory_grow(t->tensor, (size_t)t->count, (size_t)t->count + 1, sizeof *t->tensor, "trace");
    memmove(t->tensor + place + 1, t->tensor + place, (size_t)(t->count - place) * sizeof *t->tensor);
    t->tensor[place] = tensor;
    t->count++;
}

/* The pass makes dk Wk + dv Wv in one product; here are the two, in front of their sum. */
static void add_memory_shares(Trace *t, const Transformer *p) {
    for (int l = 0; l < p->decoder.layers; l++) {
        const Attention *a = &p->decoder.layer[l].encoder_attn;
        char name[96];
        snprintf(name, sizeof name, "decoder.%d.encoder_attn.kv.grad", l);
        const TraceTensor *dkv = trace_find(t, name);
        snprintf(name, sizeof name, "decoder.%d.encoder_attn.memory.grad.keys", l);
        TraceTensor keys = share(dkv, 0, &a->k_proj, name, "dk Wk");
        snprintf(name, sizeof name, "decoder.%d.encoder_attn.memory.grad.values", l);
        TraceTensor values = share(dkv, a->k_proj.out, &a->v_proj, name, "dv Wv");
        snprintf(name, sizeof name, "decoder.%d.encoder_attn.memory.grad", l);
        int place = (int)(trace_find(t, name) - t->tensor);
        insert(t, place, values);
        insert(t, place, keys);
    }
}

void trace_measure(TraceTensor *t) {
    double n = (double)t->rows * t->cols, sum = 0, squares = 0;
    t->largest = 0;
    for (size_t i = 0; i < (size_t)n; i++) {
        double x = (double)t->values[i];
        sum += x;
        squares += x * x;
        if (!(fabs(x) <= t->largest)) t->largest = fabs(x);
    }
    t->mean = sum / n;
    t->norm = sqrt(squares);
    double centred = 0; /* a second pass: the difference of two large sums would lose digits */
    for (size_t i = 0; i < (size_t)n; i++)
        centred += ((double)t->values[i] - t->mean) * ((double)t->values[i] - t->mean);
    t->deviation = sqrt(centred / n);
}

void trace_run(Trace *trace, Transformer *dp, const Batch *batch, const Transformer *p,
               const TransformerPositions *positions) {
    assert(batch->source.sentences == 1);
    assert(packed_rows(&batch->source) <= TRACE_MOST_TOKENS && packed_rows(&batch->target) <= TRACE_MOST_TOKENS);
    *trace = (Trace){0};
    trace->loss = trace_watch_gradient(trace, dp, batch, p, positions);
    for (int i = 0; i < trace->count; i++) {
        TraceTensor *t = &trace->tensor[i];
        if (strstr(t->name, ".weights") != NULL) unpack_weights(t, batch, p->config.heads);
        if (strcmp(t->name, "output.exponentials") == 0 || strcmp(t->name, "output.logits.grad") == 0)
            unpack_classes(t);
    }
    add_memory_shares(trace, p);
    for (int i = 0; i < trace->count; i++) trace_measure(&trace->tensor[i]);
}

void trace_free(Trace *t) {
    for (int i = 0; i < t->count; i++) memory_free(t->tensor[i].values);
    memory_free(t->tensor);
    *t = (Trace){0};
}

const TraceTensor *trace_find(const Trace *t, const char *name) {
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->tensor[i].name, name) == 0) return &t->tensor[i];
    return NULL;
}
