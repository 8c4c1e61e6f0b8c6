/* All that ./gradcheck does once its command line is read. The program holds it twice, see the Makefile: in double, where
 * gradients are proved, and in float. */
#ifndef STUDY_GRADCHECK_RUN_H
#define STUDY_GRADCHECK_RUN_H

#include "study/checked_model.h"

typedef enum GradcheckDemo { DEMO_NONE = -1, DEMO_SCALE, DEMO_CAUSALITY } GradcheckDemo;

/* Holds no real, so that both halves of the program read it alike. */
typedef struct GradcheckRequest {
    ModelRequest model;
    const char *module; /* of study/modules.h, or "model" for the whole model; NULL: all of them */
    const char *tensor; /* "NAME[i,j]": only this element */
    int samples;        /* elements of each tensor; 0: all; -1: as full_check_samples says */
    GradcheckDemo demo; /* instead of a check */
} GradcheckRequest;

/* Prints; returns the exit status: 0 if all agrees, else 1. */
int gradcheck_run(const GradcheckRequest *request);

/* The same in float, in the program alone. */
int gradcheck_run_in_float(const GradcheckRequest *request);

#endif
