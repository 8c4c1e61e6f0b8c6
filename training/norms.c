#include "training/norms.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

/* Does text begin with the prefix? */
static bool begins(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

static const char *block_of(const char *rest) {
    if (begins(rest, "self_attn")) return "self_attn";
    if (begins(rest, "encoder_attn")) return "encoder_attn";
    if (begins(rest, "fc") || begins(rest, "final_layer_norm")) return "ffn";
    return rest;
}

void norm_group_name(char out[NORM_GROUP_NAME], const char *tensor) {
    static const struct {
        const char *tensor, *group;
    } outside[] = {{"model.shared.", "embeddings"},
                   {"model.encoder.embed_tokens.", "embeddings.source"},
                   {"model.decoder.embed_tokens.", "embeddings.target"},
                   {"model.encoder.layer_norm.", "encoder.norm"},
                   {"model.decoder.layer_norm.", "decoder.norm"},
                   {"lm_head.", "output"}};
    char side[8], rest[64];
    int layer;
    snprintf(out, NORM_GROUP_NAME, "%s", tensor);
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        if (begins(tensor, outside[i].tensor)) snprintf(out, NORM_GROUP_NAME, "%s", outside[i].group);
    if (sscanf(tensor, "model.%7[a-z].layers.%d.%63s", side, &layer, rest) == 3)
        snprintf(out, NORM_GROUP_NAME, "%s.%d.%s", side, layer, block_of(rest));
}

/* The group's place; it is added where it is new. */
static int find_group(Norms *n, const char *name) {
    int g = 0;
    while (g < n->groups && strcmp(n->name[g], name) != 0) g++;
    if (g == n->groups) snprintf(n->name[n->groups++], NORM_GROUP_NAME, "%s", name);
    return g;
}

/* Two visits, since the table has the output layer among the embeddings, although it comes last. */
void norms_init(Norms *n, const ParamTable *table) {
    size_t count = (size_t)table->count;
    *n = (Norms){.table = table};
    n->group_of = memory_alloc(count, sizeof *n->group_of, "norms");
    n->name = memory_alloc(count, sizeof *n->name, "norms"); /* at most as many groups as tensors */
    n->gradient = memory_alloc(count, sizeof(double), "norms");
    n->weight = memory_alloc(count, sizeof(double), "norms");
    n->update = memory_alloc(count, sizeof(double), "norms");
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < table->count; i++) {
            char name[NORM_GROUP_NAME];
            norm_group_name(name, table->param[i].name);
            if ((strcmp(name, "output") == 0) == last) n->group_of[i] = find_group(n, name);
        }
}

void norms_free(Norms *n) {
    memory_free(n->group_of);
    memory_free(n->name);
    memory_free(n->gradient);
    memory_free(n->weight);
    memory_free(n->update);
    memory_free(n->owned);
    *n = (Norms){0};
}

/* norm[g] = sqrt(sum of x_i^2 over the tensors of group g). */
static void group_norms(double *norm, const Norms *n, const real *x, int threads) {
    const ParamTable *table = n->table;
    double *squares = memory_alloc((size_t)table->count, sizeof *squares, "norms");
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int i = 0; i < table->count; i++)
        squares[i] = vec_sum_squares(x + table->param[i].offset, (int64_t)param_size(&table->param[i]));
    for (int g = 0; g < n->groups; g++) norm[g] = 0;
    for (int i = 0; i < table->count; i++) norm[n->group_of[i]] += squares[i];
    for (int g = 0; g < n->groups; g++) norm[g] = sqrt(norm[g]);
    memory_free(squares);
}

void norms_begin(Norms *n, const real *slab, const real *gradient, real *spare, int threads) {
    group_norms(n->gradient, n, gradient, threads);
    group_norms(n->weight, n, slab, threads);
    const char *purpose = "norms of updates (set [output] log_norms = 0)";
    n->owned = spare == NULL ? memory_reserve(n->table->total, sizeof(real), purpose) : NULL;
    n->before = spare == NULL ? n->owned : spare;
    memcpy(n->before, slab, n->table->total * sizeof(real));
}

void norms_end(Norms *n, const real *slab, int threads) {
    real *update = n->before;
    int64_t size = (int64_t)n->table->total;
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < size; i++) update[i] -= slab[i];
    group_norms(n->update, n, update, threads);
    memory_free(n->owned);
    n->owned = NULL;
}
