#include "study/trace_names.h"

#include <stdio.h>
#include <string.h>

#define ATTENTION "model/attention.c"
#define CORE "model/attention_core.c"
#define FFN "model/feedforward.c"
#define RESIDUAL "model/residual.c"
#define NORM "model/layer_norm.c"

/* The first that fits counts. */
static const TraceRule rules[] = {
    /* forward */
    {"encoder embedding", NULL, "F****", "encoder.embedding", "x = sqrt(D) E[id] + position", "embedding_forward",
     "model/embedding.c"},
    {"decoder embedding", NULL, "F****", "decoder.embedding", "x = sqrt(D) E[id] + position", "embedding_forward",
     "model/embedding.c"},
    {"normed", NULL, "F****", "{s}.input", "in = norm(x)", "layer_norm_forward", NORM},
    {"mean", NULL, "F*n**", "{side}.norm.mean", "mean of each row", "layer_norm_forward", NORM},
    {"rstd", NULL, "F*n**", "{side}.norm.rstd", "1 / deviation of each row", "layer_norm_forward", NORM},
    {"mean", NULL, "F****", "{s}.norm.mean", "mean of each row", "layer_norm_forward", NORM},
    {"rstd", NULL, "F****", "{s}.norm.rstd", "1 / deviation of each row", "layer_norm_forward", NORM},
    {"q, k, v", NULL, "F****", "{s}.qkv", "[q k v] = in [Wq; Wk; Wv]' + [bq bk bv]", "attention_forward", ATTENTION},
    {"q", NULL, "F****", "{s}.q", "q = in Wq' + bq", "attention_forward", ATTENTION},
    {"k, v", NULL, "F****", "{s}.kv", "[k v] = memory [Wk; Wv]' + [bk bv]", "attention_forward", ATTENTION},
    {"context", NULL, "F****", "{s}.context", "O = A V in each head", "attention_core_forward", CORE},
    {"attention weights", NULL, "F****", "{s}.weights", "A = softmax(Q K' / sqrt K) in each head",
     "attention_core_forward", CORE},
    {"ffn hidden", NULL, "F1***", "{s}.hidden", "h = in W1' + b1", "feedforward_forward", FFN},
    {"ffn hidden", NULL, "F2***", "{s}.activated", "r = act(h)", "activation_forward", "model/activation.c"},
    {"ffn activated", NULL, "F****", "{s}.activated", "r = act(h)", "activation_forward", "model/activation.c"},
    {"sublayer output", NULL, "F*f**", "{s}.output", "f = r W2' + b2", "feedforward_forward", FFN},
    {"sublayer output", NULL, "F****", "{s}.output", "f = context Wo' + bo", "attention_forward", ATTENTION},
    {"residual sum", NULL, "F****", "{s}.sum", "sum = x + f", "residual_leave", RESIDUAL},
    {"after self-attention", NULL, "F**p*", "{out}", "y = x + f", "residual_leave", RESIDUAL},
    {"after self-attention", NULL, "F**o*", "{out}", "y = norm(x + f)", "residual_leave", RESIDUAL},
    {"after cross-attention", NULL, "F**p*", "{out}", "y = x + f", "residual_leave", RESIDUAL},
    {"after cross-attention", NULL, "F**o*", "{out}", "y = norm(x + f)", "residual_leave", RESIDUAL},
    {"encoder layer output", NULL, "F**p*", "{out}", "y = x + f", "residual_leave", RESIDUAL},
    {"encoder layer output", NULL, "F**o*", "{out}", "y = norm(x + f)", "residual_leave", RESIDUAL},
    {"decoder layer output", NULL, "F**p*", "{out}", "y = x + f", "residual_leave", RESIDUAL},
    {"decoder layer output", NULL, "F**o*", "{out}", "y = norm(x + f)", "residual_leave", RESIDUAL},
    {"memory", NULL, "F****", "encoder.memory", "memory = norm(x)", "encoder_forward", "model/encoder.c"},
    {"hidden", NULL, "F****", "decoder.hidden", "hidden = norm(x)", "decoder_forward", "model/decoder.c"},
    {"exponentials of logits", NULL, "*1***", "output.exponentials", "e = exp(z - max), z = hidden W'", "loss_forward",
     "model/loss.c"},
    {"largest logits", NULL, "*****", "output.largest_logits", "the largest z so far, for each block of classes",
     "loss_forward", "model/loss.c"},
    /* backward */
    {"exponentials of logits", NULL, "*2***", "output.logits.grad", "dz = p - [v = target]", "loss_backward",
     "model/loss.c"},
    {"hidden", "transformer_gradient", "B1-**", "decoder.hidden.grad", "dhidden = dz W", "loss_backward",
     "model/loss.c"},
    {"hidden", "transformer_gradient", "B2-**", "{last}.grad", "dx = norm_backward(dhidden)", "layer_norm_backward",
     NORM},
    {"hidden", "transformer_gradient", "B1*p*", "{in}.grad.past", "dx = dy", "residual_leave_backward", RESIDUAL},
    {"hidden", "transformer_gradient", "B1*o*", "{in}.grad.past", "dx = norm_backward(dy)", "residual_leave_backward",
     RESIDUAL},
    {"hidden", "transformer_gradient", "B2***", "{in}.grad", "dx = past + through", "residual_enter_backward",
     RESIDUAL},
    {"memory", "transformer_backward", "B1**d", "{memory}", "dmemory += dk Wk + dv Wv of this layer",
     "decoder_layer_backward", "model/decoder_layer.c"},
    {"memory", "transformer_backward", "B2**d", "{last}.grad", "dx = norm_backward(dmemory)", "layer_norm_backward",
     NORM},
    {"memory", "transformer_backward", "B1*pe", "{in}.grad.past", "dx = dy", "residual_leave_backward", RESIDUAL},
    {"memory", "transformer_backward", "B1*oe", "{in}.grad.past", "dx = norm_backward(dy)", "residual_leave_backward",
     RESIDUAL},
    {"memory", "transformer_backward", "B2**e", "{in}.grad", "dx = past + through", "residual_enter_backward",
     RESIDUAL},
    {"sublayer output", NULL, "B****", "{s}.output.grad", "df = what comes past f, through the sum unchanged",
     "residual_leave_backward", RESIDUAL},
    {"ffn activated", NULL, "B1***", "{s}.activated.grad", "dr = df W2", "feedforward_backward", FFN},
    {"ffn activated", NULL, "B2***", "{s}.hidden.grad", "dh = act'(h) dr", "activation_backward", "model/activation.c"},
    {"context", NULL, "B****", "{s}.context.grad", "dO = df Wo", "attention_backward", ATTENTION},
    {"q, k, v", NULL, "B****", "{s}.qkv.grad", "dQ = dS K, dK = dS' Q, dV = A' dO", "attention_core_backward", CORE},
    {"q", NULL, "B****", "{s}.q.grad", "dQ = dS K", "attention_core_backward", CORE},
    {"k, v", NULL, "B****", "{s}.kv.grad", "dK = dS' Q, dV = A' dO", "attention_core_backward", CORE},
    {"memory", "decoder_layer_backward", "B****", "{s}.memory.grad", "dk Wk + dv Wv", "attention_backward", ATTENTION},
    {"sublayer input", NULL, "B1sp*", "{s}.input.grad", "din = dq Wq + dk Wk + dv Wv", "attention_backward", ATTENTION},
    {"sublayer input", NULL, "B1cp*", "{s}.input.grad", "din = dq Wq", "attention_backward", ATTENTION},
    {"sublayer input", NULL, "B1fp*", "{s}.input.grad", "din = dh W1", "feedforward_backward", FFN},
    {"sublayer input", NULL, "B2*p*", "{x}.grad.through", "norm_backward(din)", "layer_norm_backward", NORM},
    {"sublayer input", NULL, "B1so*", "{x}.grad.through", "dq Wq + dk Wk + dv Wv", "attention_backward", ATTENTION},
    {"sublayer input", NULL, "B1co*", "{x}.grad.through", "dq Wq", "attention_backward", ATTENTION},
    {"sublayer input", NULL, "B1fo*", "{x}.grad.through", "dh W1", "feedforward_backward", FFN},
    {"after self-attention", NULL, "B1*p*", "{l}.after_self_attn.grad.past", "dx = dy", "residual_leave_backward",
     RESIDUAL},
    {"after self-attention", NULL, "B1*o*", "{l}.after_self_attn.grad.past", "dx = norm_backward(dy)",
     "residual_leave_backward", RESIDUAL},
    {"after self-attention", NULL, "B2***", "{l}.after_self_attn.grad", "dx = past + through",
     "residual_enter_backward", RESIDUAL},
    {"after cross-attention", NULL, "B1*p*", "{l}.after_encoder_attn.grad.past", "dx = dy", "residual_leave_backward",
     RESIDUAL},
    {"after cross-attention", NULL, "B1*o*", "{l}.after_encoder_attn.grad.past", "dx = norm_backward(dy)",
     "residual_leave_backward", RESIDUAL},
    {"after cross-attention", NULL, "B2***", "{l}.after_encoder_attn.grad", "dx = past + through",
     "residual_enter_backward", RESIDUAL},
};
enum { RULES = sizeof rules / sizeof *rules };

static const char *const SUBLAYERS[2][4] = {{"self_attn", "ffn", "norm"}, {"self_attn", "encoder_attn", "ffn", "norm"}};
static const char *const KINDS[2] = {"sfn", "scfn"};

int trace_sublayers(const TracePlace *place) { return place->decoder ? 3 : 2; }

const TraceRule *trace_rules(int *count) {
    *count = RULES;
    return rules;
}

const TraceRule *trace_rule(const TracePlace *p, const ArenaRecord *record, int version) {
    char now[5] = {p->backward ? 'B' : 'F', (char)('0' + version), p->layer < 0 ? '-' : KINDS[p->decoder][p->sublayer],
                   p->model->config.norm == NORM_PRE ? 'p' : 'o', p->decoder ? 'd' : 'e'};
    for (const TraceRule *r = rules; r < rules + RULES; r++) {
        if (strcmp(r->buffer, record->name) != 0) continue;
        bool fits = r->taker == NULL || strcmp(r->taker, record->function) == 0;
        for (int i = 0; i < 5; i++) fits = fits && (r->when[i] == '*' || r->when[i] == now[i]);
        if (fits) return r;
    }
    return NULL;
}

static const char *side_name(bool decoder) { return decoder ? "decoder" : "encoder"; }

/* What leaves a layer, or (-1) the embedding. Without a norm behind the last, that is already the side's output. */
static void write_layer_output(char *to, size_t size, const Transformer *model, bool decoder, int layer) {
    int layers = decoder ? model->decoder.layers : model->encoder.layers;
    bool has_norm = decoder ? model->decoder.has_norm : model->encoder.has_norm;
    if (layer < 0)
        snprintf(to, size, "%s.embedding", side_name(decoder));
    else if (layer == layers - 1 && !has_norm)
        snprintf(to, size, "%s", decoder ? "decoder.hidden" : "encoder.memory");
    else
        snprintf(to, size, "%s.%d.output", side_name(decoder), layer);
}

/* What leaves the residual of a sublayer; -1: what enters the layer. */
static void write_residual(char *to, size_t size, const TracePlace *p, int sublayer) {
    if (sublayer < 0 || sublayer >= trace_sublayers(p) - 1)
        write_layer_output(to, size, p->model, p->decoder, sublayer < 0 ? p->layer - 1 : p->layer);
    else
        snprintf(to, size, "%s.%d.after_%s", side_name(p->decoder), p->layer, SUBLAYERS[p->decoder][sublayer]);
}

/* The text for {key...}. */
static void write_key(char *to, size_t size, const char *key, const TracePlace *p) {
    const Transformer *m = p->model;
    if (strncmp(key, "{side}", 6) == 0)
        snprintf(to, size, "%s", side_name(p->decoder));
    else if (strncmp(key, "{s}", 3) == 0)
        snprintf(to, size, "%s.%d.%s", side_name(p->decoder), p->layer, SUBLAYERS[p->decoder][p->sublayer]);
    else if (strncmp(key, "{l}", 3) == 0)
        snprintf(to, size, "%s.%d", side_name(p->decoder), p->layer);
    else if (strncmp(key, "{in}", 4) == 0)
        write_residual(to, size, p, -1);
    else if (strncmp(key, "{x}", 3) == 0)
        write_residual(to, size, p, p->sublayer - 1);
    else if (strncmp(key, "{out}", 5) == 0)
        write_residual(to, size, p, p->sublayer);
    else if (strncmp(key, "{last}", 6) ==
             0) /* before the layers of the decoder's backward, or after them the encoder's */
        write_layer_output(to, size, m, p->layer < 0, (p->layer < 0 ? m->decoder.layers : m->encoder.layers) - 1);
    else if (p->layer == 0) /* {memory}: summed over the layers from the last down to this one */
        snprintf(to, size, "encoder.memory.grad");
    else
        snprintf(to, size, "encoder.memory.grad.from_%d", p->layer);
}

static void write_plain(char *name, size_t size, const TracePlace *p, const ArenaRecord *record) {
    if (p->layer < 0)
        snprintf(name, size, "%s.%s%s", side_name(p->decoder), record->name, p->backward ? ".grad" : "");
    else
        snprintf(name, size, "%s.%d.%s.%s%s", side_name(p->decoder), p->layer, SUBLAYERS[p->decoder][p->sublayer],
                 record->name, p->backward ? ".grad" : "");
    for (char *c = name; *c != '\0'; c++) *c = *c == ' ' || *c == ',' ? '_' : *c;
}

void trace_name(char *name, size_t size, const TraceRule *rule, const TracePlace *p, const ArenaRecord *record) {
    if (rule == NULL) {
        write_plain(name, size, p, record);
        return;
    }
    size_t used = 0;
    for (const char *c = rule->name; *c != '\0' && used + 1 < size;) {
        if (*c == '{') {
            write_key(name + used, size - used, c, p);
            used += strlen(name + used);
            c = strchr(c, '}') + 1;
        } else {
            name[used++] = *c++;
        }
    }
    name[used < size ? used : size - 1] = '\0';
}
