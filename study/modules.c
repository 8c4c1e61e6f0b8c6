#include "study/modules.h"

#include <string.h>

const StudyModule study_modules[STUDY_MODULES] = {
    {"linear", "y = x W' + b", module_linear},
    {"layer-norm", "y = (x - mean) / deviation * weight + bias, row by row", module_layer_norm},
    {"relu", "y = max(0, x)", module_relu},
    {"gelu", "y = x Phi(x)", module_gelu},
    {"softmax", "y_j = exp(s x_j) / sum_l exp(s x_l)", module_softmax},
    {"embedding", "x_n = sqrt(D) E[id_n] + position(n)", module_embedding},
    {"dropout", "y = mask x / keep", module_dropout},
    {"residual", "y = norm(x + f(x)), or x + f(norm(x))", module_residual},
    {"attention-core", "softmax(Q K' / sqrt(d_k)) V, square map", module_attention_core},
    {"masked-attention-core", "the same, lower triangle", module_masked_attention_core},
    {"cross-attention-core", "the same, rectangle n x m", module_cross_attention_core},
    {"self-attention", "the core with its projections: q, k and v from x", module_self_attention},
    {"masked-self-attention", "the same, position t sees 1..t", module_masked_self_attention},
    {"cross-attention", "q from the decoder, k and v from the encoder", module_cross_attention},
    {"feed-forward", "y = act(x W1' + b1) W2' + b2", module_feedforward},
    {"encoder-layer", "self-attention, feed-forward", module_encoder_layer},
    {"decoder-layer", "masked self-attention, cross-attention, feed-forward", module_decoder_layer},
    {"loss", "label-smoothed cross-entropy of softmax(h W')", module_loss},
    {"rdrop", "the same of two passes, and how far apart they are", module_rdrop},
};

const StudyModule *study_module_find(const char *name) {
    for (int i = 0; i < STUDY_MODULES; i++)
        if (strcmp(study_modules[i].name, name) == 0) return &study_modules[i];
    return NULL;
}
