/* Every module of the model alone, at small and awkward sizes, ready for the gradient check. The gradient tests and
 * ./gradcheck run the same. */
#ifndef STUDY_MODULES_H
#define STUDY_MODULES_H

#include "study/probe.h"

/* Checks the module in its variants, one after the other: the plain one first. */
typedef void StudyModuleCheck(const ProbeVisitor *visitor);

typedef struct StudyModule {
    const char *name, *formula;
    StudyModuleCheck *check;
} StudyModule;

enum { STUDY_MODULES = 19 };
extern const StudyModule study_modules[STUDY_MODULES]; /* from the smallest to whole layers and the loss */

/* NULL if there is none of the name. */
const StudyModule *study_module_find(const char *name);

/* modules_elementary.c */
StudyModuleCheck module_linear, module_layer_norm, module_relu, module_gelu, module_softmax, module_embedding,
    module_dropout, module_residual;
/* modules_attention.c */
StudyModuleCheck module_attention_core, module_masked_attention_core, module_cross_attention_core,
    module_self_attention, module_masked_self_attention, module_cross_attention;
/* modules_layers.c */
StudyModuleCheck module_feedforward, module_encoder_layer, module_decoder_layer;
/* modules_loss.c */
StudyModuleCheck module_loss;
/* modules_rdrop.c */
StudyModuleCheck module_rdrop;

#endif
