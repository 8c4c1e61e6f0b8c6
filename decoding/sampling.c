#include "decoding/sampling.h"

#include <stdlib.h>

#include "base/rng.h"

typedef struct Choice {
    double z, weight;
    int id;
} Choice;

double sampling_uniform(const Sampling *o, int64_t line, int sample, int place) {
    uint64_t hash = hash_fold(hash_fold(hash_fold(hash64(o->seed), (uint64_t)line), (uint64_t)sample), (uint64_t)place);
    return rng_uniform(&(Rng){hash});
}

static int most_probable_first(const void *a, const void *b) {
    const Choice *x = a, *y = b;
    if (x->z != y->z) return x->z > y->z ? -1 : 1;
    return x->id - y->id;
}

/* The first of the choices that have probability p together. */
static int nucleus(const Choice *choice, int count, double sum, double p) {
    double part = 0;
    for (int i = 0; i < count; i++) {
        part += choice[i].weight;
        if (part >= p * sum) return i + 1;
    }
    return count;
}

static double weigh(Choice *choice, int count, double temperature) {
    double most = (double)-INFINITY, sum = 0;
    for (int i = 0; i < count; i++) most = choice[i].z > most ? choice[i].z : most;
    for (int i = 0; i < count; i++) sum += choice[i].weight = exp((choice[i].z - most) / temperature);
    return sum;
}

int sampling_draw(const real *z, int V, const Sampling *o, double u, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    Choice *choice = arena_array(scratch, Choice, "choices", V);
    int count = 0, id = -1;
    for (int v = 0; v < V; v++)
        if (z[v] > (real)-INFINITY) choice[count++] = (Choice){(double)z[v], 0, v};
    if (o->top_k > 0 || o->top_p < 1) qsort(choice, (size_t)count, sizeof *choice, most_probable_first);
    if (o->top_k > 0 && o->top_k < count) count = o->top_k;
    double sum = weigh(choice, count, o->temperature);
    if (o->top_p < 1) {
        count = nucleus(choice, count, sum, o->top_p);
        sum = weigh(choice, count, o->temperature);
    }
    double rest = u * sum;
    for (int i = 0; i < count; i++) {
        id = choice[i].id; /* the last one where rounding leaves a rest */
        rest -= choice[i].weight;
        if (rest < 0) break;
    }
    arena_release(scratch, mark);
    return id;
}
