/* The feed-forward network and whole encoder and decoder layers. */
#include "study/modules.h"

#include <string.h>

#include "model/decoder_layer.h"
#include "model/encoder.h"
#include "model/encoder_layer.h"

typedef struct Case {
    ModelConfig config;
    Packed rows, source; /* of the layer under test, and of what a decoder layer reads */
    bool alias;          /* dx in place of dy */
    Dropout drop;
    FeedForward ffn, dffn;
    FeedForwardActs ffn_acts;
    EncoderLayer encoder, dencoder;
    EncoderLayerActs encoder_acts;
    DecoderLayer decoder, ddecoder;
    DecoderLayerActs decoder_acts;
    AttentionSpans spans;
    DecoderSpans decoder_spans;
    real *x, *dx, *memory, *dmemory, *y, *dy;
} Case;

enum { ENCODER_WIDTH = 6, DECODER_WIDTH = 5, LAYER = 1 };

static ModelConfig config(NormPlace norm, Activation activation) {
    return (ModelConfig){.encoder_width = ENCODER_WIDTH,
                         .decoder_width = DECODER_WIDTH,
                         .heads = 2,
                         .d_k = 3,
                         .d_v = 4,
                         .ffn_dim = 7,
                         .norm = norm,
                         .activation = activation,
                         .qkv_gain = 1};
}

static const real *upstream(const Case *c, int count) {
    if (!c->alias) return c->dy;
    memcpy(c->dx, c->dy, (size_t)count * sizeof(real));
    return c->dx;
}

/* Feed-forward. */

static void ffn_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    feedforward_bind(gradient ? &c->dffn : &c->ffn, b, ENCODER_WIDTH, c->config.ffn_dim, c->config.activation);
}

static void ffn_forward(void *self, Arena *arena) {
    Case *c = self;
    DropoutSite site = dropout_site(&c->drop, LAYER, DROPOUT_FFN_INNER);
    feedforward_forward(c->y, &c->ffn_acts, c->x, &c->ffn, packed_rows(&c->rows), &site, arena);
}

static void ffn_backward(void *self, Arena *arena) {
    Case *c = self;
    int N = packed_rows(&c->rows);
    DropoutSite site = dropout_site(&c->drop, LAYER, DROPOUT_FFN_INNER);
    feedforward_backward(c->dx, &c->dffn, upstream(c, N * ENCODER_WIDTH), &c->ffn_acts, &c->ffn, N, &site, arena);
}

static void check_feedforward(const ProbeVisitor *v, const char *name, Activation activation, double rate, bool alias) {
    int offset[] = {0, 9};
    Case c = {.config = config(NORM_POST, activation), .alias = alias, .drop = probe_dropout(rate)};
    c.rows = (Packed){1, offset};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){ffn_bind, ffn_forward, ffn_backward});
    probe_input(&probe, "x", 9, ENCODER_WIDTH, &c.x, &c.dx);
    probe_output(&probe, 9 * ENCODER_WIDTH, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_feedforward(const ProbeVisitor *v) {
    check_feedforward(v, "feed-forward, relu", ACTIVATION_RELU, 0, false);
    check_feedforward(v, "feed-forward, gelu", ACTIVATION_GELU, 0, true);
    check_feedforward(v, "feed-forward, relu, dropout", ACTIVATION_RELU, 0.4, false);
    check_feedforward(v, "feed-forward, gelu, dropout", ACTIVATION_GELU, 0.4, false);
}

/* Encoder layer. */

static void encoder_case_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    encoder_layer_bind(gradient ? &c->dencoder : &c->encoder, b, &c->config);
}

static void encoder_case_forward(void *self, Arena *arena) {
    Case *c = self;
    c->spans = self_spans(&c->rows, false, arena);
    encoder_layer_forward(c->y, &c->encoder_acts, c->x, &c->encoder, packed_rows(&c->rows), &c->spans, &c->drop, LAYER,
                          arena);
}

static void encoder_case_backward(void *self, Arena *arena) {
    Case *c = self;
    int N = packed_rows(&c->rows);
    encoder_layer_backward(c->dx, &c->dencoder, upstream(c, N * ENCODER_WIDTH), &c->encoder_acts, &c->encoder, N,
                           &c->spans, &c->drop, LAYER, arena);
}

static void check_encoder_layer(const ProbeVisitor *v, const char *name, NormPlace norm, Activation activation,
                                double rate, bool alias) {
    int offset[] = {0, 4, 5, 9};
    Case c = {.config = config(norm, activation), .alias = alias, .drop = probe_dropout(rate)};
    c.rows = (Packed){3, offset};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){encoder_case_bind, encoder_case_forward, encoder_case_backward});
    probe_input(&probe, "x", 9, ENCODER_WIDTH, &c.x, &c.dx);
    probe_output(&probe, 9 * ENCODER_WIDTH, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_encoder_layer(const ProbeVisitor *v) {
    check_encoder_layer(v, "encoder layer, post, relu", NORM_POST, ACTIVATION_RELU, 0, false);
    check_encoder_layer(v, "encoder layer, pre, gelu", NORM_PRE, ACTIVATION_GELU, 0, false);
    check_encoder_layer(v, "encoder layer, post, gelu, dropout, in place", NORM_POST, ACTIVATION_GELU, 0.3, true);
    check_encoder_layer(v, "encoder layer, pre, relu, dropout, in place", NORM_PRE, ACTIVATION_RELU, 0.3, true);
}

/* Decoder layer: adds its share to the gradient of memory. */

static void decoder_case_bind(void *self, ParamBinder *b, bool gradient) {
    Case *c = self;
    decoder_layer_bind(gradient ? &c->ddecoder : &c->decoder, b, &c->config);
}

static void decoder_case_forward(void *self, Arena *arena) {
    Case *c = self;
    AttentionSpans cross = self_spans(&c->rows, false, arena);
    for (int s = 0; s < cross.count; s++) {
        cross.span[s].key = c->source.offset[s];
        cross.span[s].keys = packed_length(&c->source, s);
    }
    c->decoder_spans = (DecoderSpans){self_spans(&c->rows, true, arena), cross};
    decoder_layer_forward(c->y, &c->decoder_acts, c->x, c->memory, &c->decoder, packed_rows(&c->rows),
                          packed_rows(&c->source), &c->decoder_spans, &c->drop, LAYER, arena);
}

static void decoder_case_backward(void *self, Arena *arena) {
    Case *c = self;
    int N = packed_rows(&c->rows);
    decoder_layer_backward(c->dx, c->dmemory, &c->ddecoder, upstream(c, N * DECODER_WIDTH), &c->decoder_acts,
                           &c->decoder, N, packed_rows(&c->source), &c->decoder_spans, &c->drop, LAYER, arena);
}

static void check_decoder_layer(const ProbeVisitor *v, const char *name, NormPlace norm, Activation activation,
                                double rate, bool alias) {
    int target[] = {0, 4, 5, 8}, source[] = {0, 3, 7, 8};
    Case c = {.config = config(norm, activation), .alias = alias, .drop = probe_dropout(rate)};
    c.rows = (Packed){3, target};
    c.source = (Packed){3, source};
    Probe probe;
    probe_begin(&probe, name, &c, (ProbeModule){decoder_case_bind, decoder_case_forward, decoder_case_backward});
    probe_input(&probe, "x", 8, DECODER_WIDTH, &c.x, &c.dx);
    probe_input_added(&probe, "memory", 8, ENCODER_WIDTH, &c.memory, &c.dmemory);
    probe_output(&probe, 8 * DECODER_WIDTH, &c.y, &c.dy);
    probe_finish(&probe, v);
}

void module_decoder_layer(const ProbeVisitor *v) {
    check_decoder_layer(v, "decoder layer, post, relu", NORM_POST, ACTIVATION_RELU, 0, false);
    check_decoder_layer(v, "decoder layer, pre, gelu", NORM_PRE, ACTIVATION_GELU, 0, false);
    check_decoder_layer(v, "decoder layer, post, gelu, dropout, in place", NORM_POST, ACTIVATION_GELU, 0.3, true);
    check_decoder_layer(v, "decoder layer, pre, relu, dropout, in place", NORM_PRE, ACTIVATION_RELU, 0.3, true);
}
