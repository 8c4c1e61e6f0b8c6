/* How much each source token's embedding moves the log-probability of each target token: gradient times input (Denil et
 * al. 2014; Shrikumar et al. 2016). */
#ifndef STUDY_SALIENCY_H
#define STUDY_SALIENCY_H

#include "model/transformer.h"

/* saliency [T,S] of a batch of one sentence pair:
 *
 *     saliency_ts = sum_d  d log p(y_t | y_<t, x) / dx_sd  e_sd,    e_s = sqrt(D) E[id_s]
 *
 * the first-order change of log p(y_t) if the word embedding e_s were to vanish, with its sign turned: positive where the
 * token speaks for y_t. x_s = e_s + position. One backward pass for each target token. */
void saliency_run(real *saliency, const Batch *batch, const Transformer *p, const TransformerPositions *positions);

#endif
