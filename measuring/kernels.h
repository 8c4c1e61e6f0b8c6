/* The inner loops of training, one by one, so that a loop that stopped being vectorised is noticed. */
#ifndef MEASURING_KERNELS_H
#define MEASURING_KERNELS_H

/* Of one loop, on sizes as they occur in training: nanoseconds an element (best of several runs), and elements. For
 * products an element is one multiplication and addition. */
typedef struct KernelTime {
    const char *name, *sizes;
    double ns;
} KernelTime;

enum { MOST_KERNELS = 32 };

/* Fills times[0..MOST_KERNELS) and returns how many there are. One thread. */
int kernels_measure(KernelTime *times);

#endif
