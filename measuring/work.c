#include "measuring/work.h"

double work_products(const ModelConfig *m, int64_t source_tokens, int64_t target_tokens) {
    double E = m->encoder_width, D = m->decoder_width, F = m->ffn_dim;
    double keys = (double)m->heads * m->d_k, values = (double)m->heads * m->d_v;
    double encoder = m->encoder_layers * (E * (2 * keys + 2 * values) + 2 * E * F);
    double cross_keys_values = m->decoder_layers * E * (keys + values);
    double decoder = m->decoder_layers * (D * (2 * keys + 2 * values) + D * (keys + values) + 2 * D * F);
    double output = D * m->target_vocab;
    return 6 * ((encoder + cross_keys_values) * (double)source_tokens + (decoder + output) * (double)target_tokens);
}

double work_attention(const ModelConfig *m, const Batch *b) {
    double pairs = 0;
    for (int s = 0; s < b->source.sentences; s++) {
        double S = packed_length(&b->source, s), T = packed_length(&b->target, s);
        pairs += m->encoder_layers * S * S + m->decoder_layers * (T * (T + 1) / 2 + T * S);
    }
    return 6.0 * m->heads * (m->d_k + m->d_v) * pairs;
}
