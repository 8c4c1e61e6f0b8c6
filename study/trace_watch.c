#include "study/trace_watch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parts.h"
#include "base/vec.h"
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
    Arena arena;
    TracePlace place;
    Seen *seen; /* [capacity] by number of the allocation */
    size_t capacity;
    size_t settled; /* allocations up to this number do not change any more */
    Part previous;
    bool enters; /* going back: this part is the first of a sublayer */
    int norms;   /* going back: parts of norm and residual since then */
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
    p->sublayer = p->backward ? trace_sublayers(p) : 0; /* going back, before the last of them */
    for (size_t i = 0; i < w->capacity; i++) w->seen[i].versions = 0;
}

/* What a sublayer takes first of all, going back. */
static bool begins_sublayer_backward(const ArenaRecord *r) {
    return strcmp(r->function, "feedforward_backward") == 0 || strcmp(r->function, "attention_backward") == 0;
}

/* Makes room for the record, and notices where it begins the backward pass, the decoder, a layer or a sublayer. */
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
    } else if (begins_sublayer_backward(r)) {
        w->enters = true;
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

/* Appends values of the record's buffer. */
static void add(Watch *w, const ArenaRecord *r, const real *values, Part part) {
    Trace *t = w->trace;
    Seen *seen = &w->seen[r->number];
    const TraceRule *rule = trace_rule(&w->place, r, ++seen->versions);
    TraceTensor tensor = {.rows = (int)r->rows, .cols = (int)r->cols};
    trace_name(tensor.name, sizeof tensor.name, rule, &w->place, r);
    make_unique(tensor.name, sizeof tensor.name, t);
    tensor.is_gradient = strstr(tensor.name, ".grad") != NULL;
    tensor.formula = rule ? rule->formula : "";
    tensor.function = rule ? rule->function : r->function;
    tensor.file = rule ? rule->file : r->file;
    tensor.values = memory_alloc(r->rows * r->cols, sizeof(real), "trace");
    memcpy(tensor.values, values, bytes_of(r));
    t->tensor = memory_grow(t->tensor, (size_t)t->count, (size_t)t->count + 1, sizeof *t->tensor, "trace");
    seen->last = t->count;
    seen->part = part;
    t->tensor[t->count++] = tensor;
}

static void record_change(Watch *w, const ArenaRecord *r, Part part) {
    Seen *seen = &w->seen[r->number];
    if (!completes(w, seen, part)) {
        add(w, r, r->data, part);
        return;
    }
    memcpy(w->trace->tensor[seen->last].values, r->data, bytes_of(r));
    seen->part = part;
}

static const ArenaRecord *live(const Watch *w, const char *name) {
    const ArenaRecord *r = w->arena.last;
    while (r != NULL && (r->number <= w->settled || strcmp(r->name, name) != 0)) r = r->previous;
    return r;
}

/* What was written has not changed where it was the same before, as when nothing comes through a sublayer: the buffer's
 * version-th values are then those that it has had. */
static void expect(Watch *w, const char *name, int version, Part part) {
    const ArenaRecord *r = live(w, name);
    if (r == NULL || w->seen[r->number].last < 0) return;
    while (w->seen[r->number].versions < version) add(w, r, w->trace->tensor[w->seen[r->number].last].values, part);
}

/* Where the gradient of the present sublayer's residual lies. */
static const char *residual_buffer(const TracePlace *p) {
    if (p->sublayer == 0) return p->decoder ? "hidden" : "memory";
    return p->sublayer == 2 ? "after cross-attention" : "after self-attention";
}

static void enter_sublayer_backward(Watch *w) {
    const char *const own[] = {"sublayer input", "sublayer output"};
    w->place.sublayer--;
    w->norms = 0;
    for (int i = 0; i < 2; i++) w->seen[live(w, own[i])->number].versions = 0;
}

/* What a part going back must have written, changed or not: at the entry of a sublayer the gradient of its output and what comes
 * past it, then through the activation, through its norm (pre), into the sum. */
static void expect_backward(Watch *w, Part part) {
    bool pre = w->place.model->config.norm == NORM_PRE;
    if (w->enters) {
        expect(w, residual_buffer(&w->place), 1, part);
        expect(w, "sublayer output", 1, part);
    }
    if (part == PART_ACTIVATION && w->previous == PART_GEMM) expect(w, "ffn activated", 2, part);
    w->norms += part == PART_NORM;
    if (part != PART_NORM || w->norms > 1 + pre) return;
    expect(w, "sublayer input", w->norms, part);
    if (w->norms == 1 + pre) expect(w, residual_buffer(&w->place), 2, part);
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

/* Called when a part of the computation has ended. */
static void look(void *context, Part part) {
    Watch *w = context;
    TracePlace *p = &w->place;
    const ArenaRecord **record;
    int count = list_records(&record, w);
    bool leaves = false;
    w->enters = false;
    for (int i = 0; i < count; i++) meet(w, record[i]);
    if (w->enters) enter_sublayer_backward(w);
    for (int i = 0; i < count; i++) {
        if (record[i]->number <= w->settled || !has_changed(w, record[i])) continue;
        if (p->backward && part == PART_NORM && strcmp(record[i]->name, "sublayer input") == 0)
            expect(w, "sublayer input", 1, PART_GEMM);
        record_change(w, record[i], part);
        leaves = leaves || leaves_residual(record[i]);
    }
    if (p->backward && p->layer >= 0)
        expect_backward(w, part);
    else if (leaves)
        p->sublayer++;
    w->previous = part;
    memory_free(record);
}

LossSums trace_watch_gradient(Trace *trace, Transformer *dp, const Batch *batch, const Transformer *p,
                              const TransformerPositions *positions) {
    Watch w = {.trace = trace, .place = {.model = p, .layer = -1}};
    arena_init(&w.arena, "trace");
    w.arena.fill_nan = true;
    part_watch(look, &w);
    LossSums sums = transformer_gradient(dp, batch, p, positions, 0, 1, NULL, &w.arena);
    part_watch(NULL, NULL);
    arena_free(&w.arena);
    memory_free(w.seen);
    return sums;
}
