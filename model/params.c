#include "model/params.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

void param_bind(ParamBinder *b, real **slot, const char *name, int rank, int rows, int cols, ParamRole role) {
    *slot = b->slab ? b->slab + b->used : NULL;
    if (b->table != NULL) {
        ParamTable *t = b->table;
        if ((t->count & (t->count - 1)) == 0) /* full at powers of two */
            t->param = memory_grow(t->param, (size_t)t->count, t->count ? 2 * (size_t)t->count : 1, sizeof *t->param,
                                   "parameter table");
        Param *p = &t->param[t->count++];
        *p = (Param){.rank = rank, .rows = rows, .cols = cols, .offset = b->used, .role = role};
        int length = snprintf(p->name, sizeof p->name, "%s%s", b->prefix, name);
        assert(length < (int)sizeof p->name);
    }
    b->used += (size_t)rows * (size_t)cols;
    if (b->table != NULL) b->table->total = b->used;
}

void param_tie(ParamBinder *b, real **slot, real *tied_to, size_t offset, const char *name) {
    *slot = tied_to;
    for (int i = 0; b->table != NULL && i < b->table->count; i++) {
        Param *p = &b->table->param[i];
        if (p->offset != offset) continue;
        size_t used = strlen(p->also);
        int length = snprintf(p->also + used, sizeof p->also - used, "%s%s ", b->prefix, name);
        assert(length < (int)(sizeof p->also - used));
    }
}

/* Is name one of the words of a list that has a space after each? */
static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *word = list; *word != '\0'; word = strchr(word, ' ') + 1)
        if (strncmp(word, name, length) == 0 && word[length] == ' ') return true;
    return false;
}

int param_find(const ParamTable *table, const char *name) {
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->param[i].name, name) == 0 || is_listed(table->param[i].also, name)) return i;
    return -1;
}

static double xavier(const Param *p, Rng *rng) { return sqrt(6.0 / (p->rows + p->cols)) * (2 * rng_uniform(rng) - 1); }

static double initial_value(const ParamTable *table, const Param *p, Rng *rng) {
    switch (p->role) {
    case PARAM_MATRIX:
        return xavier(p, rng);
    case PARAM_QKV_MATRIX:
        return table->qkv_gain * xavier(p, rng);
    case PARAM_EMBEDDING:
        return rng_normal(rng) / sqrt((double)p->cols);
    case PARAM_NORM_WEIGHT:
        return 1;
    case PARAM_BIAS:
    case PARAM_NORM_BIAS:
        return 0;
    }
    return 0;
}

void param_init(real *slab, const ParamTable *table, uint64_t seed) {
    for (int i = 0; i < table->count; i++) {
        const Param *p = &table->param[i];
        Rng rng = {hash_fold(hash64(seed), (uint64_t)i)};
        real *value = slab + p->offset;
        for (size_t j = 0; j < param_size(p); j++) value[j] = (real)initial_value(table, p, &rng);
    }
}

void param_table_free(ParamTable *table) {
    memory_free(table->param);
    *table = (ParamTable){0};
}
