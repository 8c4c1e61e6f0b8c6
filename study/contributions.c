#include "study/contributions.h"

#include <string.h>

#include "base/memory.h"

static void copy_values(real *slab, const ParamTable *table, const ModelCheck *from) {
    for (int i = 0; i < table->count; i++) {
        const Param *p = &table->param[i], *q = &from->table->param[param_find(from->table, p->name)];
        memcpy(slab + p->offset, from->parameters + q->offset, param_size(p) * sizeof(real));
    }
}

int contributions_by_use(Contribution part[EMBEDDING_SITES], const ModelCheck *c, int param, size_t index) {
    static const char *const use[EMBEDDING_SITES] = {"source embedding", "target embedding", "output layer"},
                             *const name[EMBEDDING_SITES] = {"model.encoder.embed_tokens.weight",
                                                             "model.decoder.embed_tokens.weight", "lm_head.weight"};
    if (c->table->param[param].also[0] == '\0') return 0;
    ModelConfig config = c->p->config;
    config.tie = TIE_NONE;
    ParamTable table = transformer_table(&config);
    real *parameters = memory_alloc(table.total, sizeof(real), "untied model");
    real *gradients = memory_alloc(table.total, sizeof(real), "untied model");
    Transformer p, dp;
    transformer_init(&p, &config, parameters);
    transformer_init(&dp, &config, gradients);
    copy_values(parameters, &table, c);
    ModelCheck untied = *c;
    untied.table = &table;
    untied.parameters = parameters;
    untied.gradients = gradients;
    untied.p = &p;
    untied.dp = &dp;
    model_check_gradient(&untied);
    int count = 0;
    for (int i = 0; i < EMBEDDING_SITES; i++)
        if (param_find(c->table, name[i]) == param) {
            size_t offset = table.param[param_find(&table, name[i])].offset;
            part[count++] = (Contribution){use[i], (double)gradients[offset + index]};
        }
    transformer_free(&p);
    transformer_free(&dp);
    memory_free(parameters);
    memory_free(gradients);
    param_table_free(&table);
    return count;
}

void contributions_by_sentence(double *value, const ModelCheck *c, int param, size_t index) {
    const Batch *b = c->batch;
    real *gradients = memory_alloc(c->table->total, sizeof(real), "gradient of a sentence");
    Transformer dp;
    transformer_init(&dp, &c->p->config, gradients);
    for (int s = 0; s < b->source.sentences; s++) {
        int from = b->source.offset[s], start = b->target.offset[s];
        int source[] = {0, packed_length(&b->source, s)}, target[] = {0, packed_length(&b->target, s)};
        Batch one = {.source = {1, source},
                     .target = {1, target},
                     .source_ids = b->source_ids + from,
                     .target_in = b->target_in + start,
                     .target_out = b->target_out + start,
                     .index = b->index + s};
        ModelCheck alone = *c;
        alone.batch = &one;
        alone.gradients = gradients;
        alone.dp = &dp;
        model_check_gradient(&alone); /* of the mean over its own tokens */
        value[s] = (double)gradients[c->table->param[param].offset + index] * target[1] / packed_rows(&b->target);
    }
    transformer_free(&dp);
    memory_free(gradients);
}
