#include "study/inspection_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "base/version.h"
#include "run/json_text.h"

enum { DIGITS = 7 };

static json_t *piece(const Tokenizer *tokenizer, int id) {
    const char *text = tokenizer_piece(tokenizer, id);
    return json_text(text, strlen(text));
}

static json_t *pieces(const Tokenizer *tokenizer, const int *ids, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, piece(tokenizer, ids[i]));
    return list;
}

static json_t *side(const Tokenizer *tokenizer, const int *ids, int count) {
    json_t *object = json_object(), *list = json_array();
    size_t length;
    char *text = tokenizer_decode(tokenizer, ids, count, &length);
    for (int i = 0; i < count; i++) json_array_append_new(list, json_integer(ids[i]));
    json_object_set_new(object, "text", json_stringn(text, length));
    json_object_set_new(object, "pieces", pieces(tokenizer, ids, count));
    json_object_set_new(object, "ids", list);
    memory_free(text);
    return object;
}

static json_t *model(const Inspection *in) {
    const ModelConfig *c = &in->run->model.config;
    json_t *object = json_object();
    json_set_integer(object, "encoder_layers", c->encoder_layers);
    json_set_integer(object, "decoder_layers", c->decoder_layers);
    json_set_integer(object, "heads", c->heads);
    json_set_integer(object, "d_k", c->d_k);
    json_set_integer(object, "d_v", c->d_v);
    json_set_integer(object, "encoder_width", c->encoder_width);
    json_set_integer(object, "decoder_width", c->decoder_width);
    json_set_integer(object, "ffn_dim", c->ffn_dim);
    json_set_text(object, "norm", c->norm == NORM_PRE ? "pre" : "post");
    json_set_integer(object, "parameters", (int64_t)in->run->table.total);
    return object;
}

static json_t *steps(const Inspection *in) {
    json_t *list = json_array();
    for (int t = 0; t < packed_rows(&in->batch.target); t++) {
        const InspectionStep *s = &in->step[t];
        json_t *one = json_object(), *best = json_array();
        json_set_text(one, "piece", tokenizer_piece(in->run->target, s->id));
        json_set_real(one, "log_p", s->log_p);
        json_set_integer(one, "rank", s->rank);
        json_set_real(one, "entropy", s->entropy);
        for (int i = 0; i < s->best_count; i++) {
            json_t *pair = json_array();
            json_array_append_new(pair, piece(in->run->target, s->best[i]));
            json_array_append_new(pair, json_number(s->best_p[i]));
            json_array_append_new(best, pair);
        }
        json_object_set_new(one, "best", best);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *matrix(const real *values, int rows, int cols, double unit) {
    json_t *list = json_array();
    for (int i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (int j = 0; j < cols; j++) {
            double x = (double)values[(size_t)i * (size_t)cols + (size_t)j];
            json_array_append_new(row, json_number(unit > 0 ? round(x / unit) * unit : x));
        }
        json_array_append_new(list, row);
    }
    return list;
}

/* [layer][head][query][key] of one kind of attention. */
static json_t *attention(const Inspection *in, const char *decoder_or_encoder, const char *sublayer, int layers) {
    json_t *list = json_array();
    int heads = in->run->model.config.heads;
    for (int l = 0; l < layers; l++) {
        char name[96];
        snprintf(name, sizeof name, "%s.%d.%s.weights", decoder_or_encoder, l, sublayer);
        const TraceTensor *t = trace_find(&in->trace, name);
        json_t *layer = json_array();
        int queries = t->rows / heads;
        for (int h = 0; h < heads; h++)
            json_array_append_new(
                layer, matrix(t->values + (size_t)h * (size_t)queries * (size_t)t->cols, queries, t->cols, 1e-5));
        json_array_append_new(list, layer);
    }
    return list;
}

static json_t *attentions(const Inspection *in) {
    const ModelConfig *c = &in->run->model.config;
    json_t *object = json_object();
    json_object_set_new(object, "encoder_self", attention(in, "encoder", "self_attn", c->encoder_layers));
    json_object_set_new(object, "decoder_self", attention(in, "decoder", "self_attn", c->decoder_layers));
    json_object_set_new(object, "cross", attention(in, "decoder", "encoder_attn", c->decoder_layers));
    return object;
}

static json_t *tensors(const Trace *trace, bool gradients) {
    json_t *list = json_array();
    for (int i = 0; i < trace->count; i++) {
        const TraceTensor *t = &trace->tensor[i];
        if (t->is_gradient != gradients) continue;
        json_t *one = json_object();
        json_set_text(one, "name", t->name);
        json_set_integer(one, "rows", t->rows);
        json_set_integer(one, "cols", t->cols);
        json_set_real(one, "mean", t->mean);
        json_set_real(one, "deviation", t->deviation);
        json_set_real(one, "largest", t->largest);
        json_set_real(one, "norm", t->norm);
        json_set_text(one, "formula", t->formula);
        json_set_text(one, "function", t->function);
        json_set_text(one, "file", t->file);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *parameters(const Inspection *in) {
    json_t *list = json_array();
    for (int i = 0; i < in->run->table.count; i++) {
        const Param *p = &in->run->table.param[i];
        json_t *one = json_object();
        int64_t size = (int64_t)param_size(p);
        json_set_text(one, "name", p->name);
        json_set_integer(one, "rows", p->rows);
        json_set_integer(one, "cols", p->cols);
        json_set_real(one, "norm", sqrt(vec_sum_squares(in->run->slab + p->offset, size)));
        json_set_real(one, "gradient", sqrt(vec_sum_squares(in->gradients + p->offset, size)));
        json_array_append_new(list, one);
    }
    return list;
}

char *inspection_json(const Inspection *in, const char *name) {
    const Batch *b = &in->batch;
    int S = packed_rows(&b->source), T = packed_rows(&b->target);
    json_t *all = json_object(), *target = side(in->run->target, b->target_out, T);
    json_object_set_new(target, "input", pieces(in->run->target, b->target_in, T));
    json_set_bool(target, "given", in->target_given);
    json_set_text(all, "version", TANDEM_VERSION);
    json_set_text(all, "run", name); /* a path may have any bytes */
    json_object_set_new(all, "model", model(in));
    json_object_set_new(all, "source", side(in->run->source, b->source_ids, S));
    json_object_set_new(all, "target", target);
    json_set_real(all, "log_p", inspection_log_p(in));
    json_object_set_new(all, "steps", steps(in));
    json_object_set_new(all, "attention", attentions(in));
    json_object_set_new(all, "saliency", matrix(in->saliency, T, S, 0));
    json_object_set_new(all, "forward", tensors(&in->trace, false));
    json_object_set_new(all, "backward", tensors(&in->trace, true));
    json_object_set_new(all, "parameters", parameters(in));
    char *dumped = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    char *text = memory_text(dumped, strlen(dumped));
    free(dumped);
    json_decref(all);
    return text;
}
