#include "study/trace.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parts.h"
#include "base/vec.h"
#include "model/matmul.h"
#include "study/trace_names.h"

/* What is known of an allocation of the arena. */
typedef struct Seen {
    bool known;
    int last;     /* place of its newest values in the trace, or -1 */
    int versions; /* in this layer; of "sublayer input", in this sublayer */
    Part part;    /* that computed them */
} Seen;

typedef struct Watch {
    Trace *trace;
    const Batch *batch;
    Arena arena;
    TracePlace place;
    Seen *seen; /* [capacity] by number of the allocation */
    size_t capacity;
    size_t settled; /* allocations up to this number do not change any more */
    Part previous;
    int gradients; /* "sublayer output" so often in this layer's backward */
} Watch;

static size_t bytes_of(const ArenaRecord *r) { return r->rows * r->cols * sizeof(real); }

static bool is_real(const ArenaRecord *r) { return r->element_size == sizeof(real) && r->rows * r->cols > 0; }

/* Are all bytes those that the arena has filled it with? */
static bool is_fresh(const ArenaRecord *r) {
    const unsigned char *bytes = r->data;
    for (size_t i = 0; i < bytes_of(r); i++)
        if (bytes[i] != 0xFF) return false;
    return true;
}

/* dmemory starts at zero, which is the gradient of nothing. */
static bool is_start_of_sum(const ArenaRecord *r) {
    const real *x = r->data;
    return strcmp(r->function, "transformer_backward") == 0 && vec_sum_squares(x, (int64_t)(r->rows * r->cols)) == 0;
}

static bool has_changed(const Watch *w, const ArenaRecord *r) {
    const Seen *seen = &w->seen[r->number];
    if (seen->last >= 0) return memcmp(w->trace->tensor[seen->last].values, r->data, bytes_of(r)) != 0;
    return !is_fresh(r) && !is_start_of_sum(r);
}

static void enter_layer(Watch *w, const ArenaRecord *r) {
    TracePlace *p = &w->place;
    bool decoder = strncmp(r->function, "decoder", 7) == 0;
    if (decoder != p->decoder || p->layer < 0) {
        const Transformer *m = p->model;
        p->decoder = decoder;
        p->layer = p->backward ? (decoder ? m->decoder.layers : m->encoder.layers) : -1;
    }
    p->layer += p->backward ? -1 : 1;
    p->sublayer = p->backward ? trace_sublayers(p) - 1 : 0;
    w->gradients = 0;
    for (size_t i = 0; i < w->capacity; i++) w->seen[i].versions = 0;
}

/* Makes room for the record, and notices where it begins the backward pass, the decoder or a layer. */
static void meet(Watch *w, const ArenaRecord *r) {
    if (r->number >= w->capacity) {
        size_t capacity = 2 * r->number + 64;
        w->seen = memory_grow(w->seen, w->capacity, capacity, sizeof *w->seen, "trace");
        w->capacity = capacity;
    }
    if (w->seen[r->number].known) return;
    w->seen[r->number] = (Seen){.known = true, .last = -1};
    if (strcmp(r->function, "transformer_gradient") == 0) {
        w->place = (TracePlace){.model = w->place.model, .backward = true, .decoder = true, .layer = -1};
        w->settled = r->number - 1;
    } else if (strcmp(r->function, "decoder_forward") == 0 && strcmp(r->name, "decoder embedding") == 0) {
        w->place.decoder = true;
        w->place.layer = -1;
    } else if (strcmp(r->name, "sublayer output") == 0) {
        enter_layer(w, r);
    }
}

/* A linear layer's bias is added to its product in a part of its own: one step all the same. */
static bool completes(const Watch *w, const Seen *seen, Part part) {
    return !w->place.backward && seen->last >= 0 && seen->part == PART_GEMM && w->previous == PART_GEMM &&
           part == PART_ACTIVATION;
}

/* A name that is there already gets a number behind it. */
static void make_unique(char *name, size_t size, const Trace *trace) {
    size_t length = strlen(name);
    for (int copy = 2; trace_find(trace, name) != NULL; copy++) snprintf(name + length, size - length, ".%d", copy);
}

static void add(Watch *w, const ArenaRecord *r, Part part) {
    Trace *t = w->trace;
    Seen *seen = &w->seen[r->number];
    if (completes(w, seen, part)) {
        memcpy(t->tensor[seen->last].values, r->data, bytes_of(r));
        seen->part = part;
        return;
    }
    const TraceRule *rule = trace_rule(&w->place, r, ++seen->versions);
    TraceTensor tensor = {.rows = (int)r->rows, .cols = (int)r->cols};
    trace_name(tensor.name, sizeof tensor.name, rule, &w->place, r);
    make_unique(tensor.name, sizeof tensor.name, t);
    tensor.is_gradient = strstr(tensor.name, ".grad") != NULL;
    tensor.formula = rule ? rule->formula : "";
    tensor.function = rule ? rule->function : r->function;
    tensor.file = rule ? rule->file : r->file;
    tensor.values = memory_alloc(r->rows * r->cols, sizeof(real), "trace");
    memcpy(tensor.values, r->data, bytes_of(r));
    t->tensor = memory_grow(t->tensor, (size_t)t->count, (size_t)t->count + 1, sizeof *t->tensor, "trace");
    seen->last = t->count;
    seen->part = part;
    t->tensor[t->count++] = tensor;
}

static bool leaves_residual(const ArenaRecord *r) {
    return strncmp(r->name, "after ", 6) == 0 || strstr(r->name, " layer output") != NULL;
}

/* Those that may change, newest first: of what one step writes, the working memory that was taken last is written first. */
static int list_records(const ArenaRecord ***list, const Watch *w) {
    int count = 0;
    *list = memory_alloc(w->arena.taken - w->settled + 1, sizeof **list, "trace");
    for (const ArenaRecord *r = w->arena.last; r != NULL && r->number > w->settled; r = r->previous)
        if (is_real(r)) (*list)[count++] = r;
    return count;
}

/* Going back, a sublayer begins with the gradient of its output. */
static void enter_sublayer_backward(Watch *w) {
    w->place.sublayer = trace_sublayers(&w->place) - ++w->gradients;
    for (const ArenaRecord *r = w->arena.last; r != NULL; r = r->previous)
        if (strcmp(r->name, "sublayer input") == 0) w->seen[r->number].versions = 0;
}

/* Called when a part of the computation has ended. */
static void look(void *context, Part part) {
    Watch *w = context;
    const ArenaRecord **record;
    int count = list_records(&record, w), changed = 0;
    for (int i = 0; i < count; i++) meet(w, record[i]);
    for (int i = 0; i < count; i++)
        if (record[i]->number > w->settled && has_changed(w, record[i])) record[changed++] = record[i];
    bool left = false;
    for (int i = 0; i < changed; i++) {
        left = left || leaves_residual(record[i]);
        if (w->place.backward && strcmp(record[i]->name, "sublayer output") == 0) enter_sublayer_backward(w);
    }
    for (int i = 0; i < changed; i++) add(w, record[i], part);
    if (left && !w->place.backward) w->place.sublayer++;
    w->previous = part;
    memory_free(record);
}

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
    Watch w = {.trace = trace, .batch = batch, .place = {.model = p, .layer = -1}};
    arena_init(&w.arena, "trace");
    w.arena.fill_nan = true;
    part_watch(look, &w);
    trace->loss = transformer_gradient(dp, batch, p, positions, 0, 1, NULL, &w.arena);
    part_watch(NULL, NULL);
    arena_free(&w.arena);
    memory_free(w.seen);
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
