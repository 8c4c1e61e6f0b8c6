/* The yardstick: single-precision matrix products, one serial product a thread, as the lanes of training call them.
 *
 * Machines drift, above all rented ones, so a speed alone says little: what stays comparable is the share of the rate
 * that the same threads reach on square products just before and just after. */
#ifndef MEASURING_SGEMM_H
#define MEASURING_SGEMM_H

#include "base/real.h"

enum { SGEMM_BESIDE = 768, SGEMM_PEAK = 2048 }; /* sides of the square matrices: beside an update, and once */

typedef struct SgemmProbe {
    int threads, side;
    real **matrices; /* [threads] A, B, C of [side, side] each */
} SgemmProbe;

void sgemm_probe_init(SgemmProbe *probe, int threads, int side);
void sgemm_probe_free(SgemmProbe *probe);

/* Floating-point operations per second of all threads together, over `times` products each. */
double sgemm_probe_rate(const SgemmProbe *probe, int times);

/* The best of five on that many threads. */
double sgemm_peak(int threads, int side);

#endif
