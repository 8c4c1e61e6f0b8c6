/* What ./gradcheck runs: every module alone, then the whole model. */
#ifndef STUDY_FULL_CHECK_H
#define STUDY_FULL_CHECK_H

#include "study/checked_model.h"
#include "study/gradient_table.h"
#include "study/modules.h"

/* Elements to check of each tensor where nobody asks for a number: of a model 64, or 8 where it is large. */
enum { MODULE_SAMPLES = 64 };
size_t full_check_samples(const ParamTable *table);

/* All modules: a row for each tensor of the plain variant, and one row for each further variant that passes. With `only`,
 * this module, a row for every tensor. most: elements of each tensor, 0: all. */
void full_check_modules(GradientTable *t, const StudyModule *only, size_t most);

/* Every tensor of the model, then the encoder's output and the parts of its gradient. */
void full_check_model(GradientTable *t, CheckedModel *m, size_t most);

/* What model, weights and text those are. */
void full_check_describe(FILE *out, const CheckedModel *m, size_t most);

#endif
