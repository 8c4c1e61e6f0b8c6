/* An inspection as JSON: for programs, and for the page that shows it. */
#ifndef STUDY_INSPECTION_JSON_H
#define STUDY_INSPECTION_JSON_H

#include "study/inspection.h"

/* One line, from memory_alloc. `name` is the run's, as it was called. Keys:
 *   model                sizes
 *   source, target       "pieces" with </s>, "ids", "text"; target: "input" (pieces of the decoder's input), "given"
 *   log_p                of the target, in nats
 *   steps[t]             "piece", "log_p", "rank", "entropy", "best": [[piece, p], ...] best first
 *   attention            "encoder_self", "decoder_self", "cross": [layer][head][query][key], to five decimals
 *   saliency[t][s]       study/saliency.h
 *   forward[], backward[]  each tensor in order: "name", "rows", "cols", "mean", "deviation", "largest", "norm",
 *                        "formula", "function", "file"
 *   parameters[]         "name", "rows", "cols", "norm", "gradient" (the norm of it)
 * A value that is not finite is null. */
char *inspection_json(const Inspection *inspection, const char *name);

#endif
