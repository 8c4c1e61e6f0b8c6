/* All that `./inspect` shows of one sentence pair and a trained run, computed once; text, JSON and page print it. */
#ifndef STUDY_INSPECTION_H
#define STUDY_INSPECTION_H

#include "run/loaded_run.h"
#include "study/trace.h"

enum { INSPECTION_BEST = 10 };

/* One step of decoding: the distribution of token t, given those before it. */
typedef struct InspectionStep {
    int id;         /* the target's token */
    double log_p;   /* of it */
    int rank;       /* of it, 1 the most probable */
    double entropy; /* of the distribution, in nats */
    int best_count;
    int best[INSPECTION_BEST]; /* [best_count] the most probable tokens, best first */
    double best_p[INSPECTION_BEST];
} InspectionStep;

typedef struct Inspection {
    const LoadedRun *run; /* borrowed */
    bool target_given;
    Batch batch;     /* one pair */
    real *gradients; /* [run->table.total] of L = -log p(target | source), for each parameter */
    Trace trace;
    InspectionStep *step; /* [T] */
    real *saliency;       /* [T,S] as in saliency.h */
} Inspection;

/* target NULL: the model's own greedy translation. False with an error where the source is blank, holds a line end, or a
 * side has more than TRACE_MOST_TOKENS tokens; then there is nothing to free. */
bool inspection_make(Inspection *inspection, const LoadedRun *run, const char *source, const char *target,
                     Error *error);
void inspection_free(Inspection *inspection);

/* log p(target | source), in nats. */
double inspection_log_p(const Inspection *inspection);

#endif
