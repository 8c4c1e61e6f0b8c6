/* A harness that proves the gradients of one module.
 *
 * The module computes outputs from inputs and parameters; the loss is L = sum_i r_i out_i with random r, so that
 * no component of an output's gradient can hide behind another (a plain sum would let many wrong backwards
 * pass). Before the backward, gradients that it adds to are filled with 7, and those that it overwrites with NaN.
 * Then every element of every parameter and input is compared with central differences (study/gradient_check.h).
 *
 *     Probe probe;
 *     probe_begin(&probe, "linear", &c, (ProbeModule){bind, forward, backward});
 *     probe_input(&probe, "x", N, in, &c.x, &c.dx);
 *     probe_output(&probe, N * out, &c.y, &c.dy);
 *     probe_finish(&probe, visitor);                    checks, tells the visitor, frees */
#ifndef STUDY_PROBE_H
#define STUDY_PROBE_H

#include "base/arena.h"
#include "model/dropout.h"
#include "model/params.h"
#include "study/gradient_check.h"

typedef struct ProbeModule {
    /* Binds the parameters, or their gradients; NULL for a module without. */
    void (*bind)(void *self, ParamBinder *binder, bool gradient);
    void (*forward)(void *self, Arena *arena);
    void (*backward)(void *self, Arena *arena);
} ProbeModule;

enum { PROBE_MOST_INPUTS = 4, PROBE_MOST_ZEROS = 8 };

typedef struct ProbeInput {
    const char *name;
    int rows, cols;
    real *value, *gradient; /* [rows,cols] */
    real prefill;           /* of the gradient before the backward */
} ProbeInput;

typedef struct ProbeZero {
    const char *name_end, *reason;
} ProbeZero;

typedef struct Probe {
    const char *name;
    void *self;
    ProbeModule module;
    ParamTable table;
    real *parameters, *gradients; /* [table.total] */
    ProbeInput input[PROBE_MOST_INPUTS];
    int inputs;
    real *out, *weight; /* [outs]; weight is r, and so the gradient of L with respect to out */
    size_t outs;
    ProbeZero zero[PROBE_MOST_ZEROS];
    int zeros;
    Arena arena;
} Probe;

/* What a check has found; borrowed. */
typedef struct ProbeReport {
    const char *name;
    const GradientTensor *tensor; /* [tensors] */
    const GradientResult *each;   /* [tensors] */
    int tensors;
    GradientResult sum;
} ProbeReport;

/* Whom to tell. */
typedef struct ProbeVisitor {
    void (*visit)(void *context, const ProbeReport *report);
    void *context;
    size_t most; /* elements to check of each tensor; 0: all */
} ProbeVisitor;

void probe_begin(Probe *probe, const char *name, void *self, ProbeModule module);

/* An input of random values. gradient == NULL: a constant, whose gradient nobody wants. */
void probe_input(Probe *probe, const char *name, int rows, int cols, real **value, real **gradient);

/* The same, with a gradient that the backward adds to. */
void probe_input_added(Probe *probe, const char *name, int rows, int cols, real **value, real **gradient);

/* `out` is filled by the forward, `dout` read by the backward. */
void probe_output(Probe *probe, int count, real **out, real **dout);

/* Gradients of tensors whose names end so are zero by theory (k_proj.bias always is). */
void probe_zero(Probe *probe, const char *name_end, const char *reason);

void probe_finish(Probe *probe, const ProbeVisitor *visitor);

/* Dropout of up to PROBE_ROWS rows, with a rate of its own for each place, around `rate`. 0: no dropout. */
enum { PROBE_ROWS = 512 };
Dropout probe_dropout(double rate);

/* count values with mean 0 and deviation 1. */
void probe_random(real *values, size_t count, uint64_t seed);

/* Why k_proj.bias has no gradient. */
extern const char PROBE_KEY_BIAS[];

#endif
