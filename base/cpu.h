/* The processors that this process may use. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

/* Physical cores within the process's affinity and the quota of its cgroup (version 2, as a
 * container sees it), at least 1: hyperthreads of one core share its
 * arithmetic units, so a second one gains nothing here. */
int cpu_cores(void);

/* From here on this thread, and those that it starts, take numbers below the least normal one (1e-38 for floats) for 0.
 * A processor may need a hundred times as long for them, and a model that has learned what to ignore makes many: where
 * attention is nearly 0, so are the gradients of queries, keys and values. Does nothing where it does not know how. */
void cpu_flush_denormals(void);

/* The processor's name as the system gives it, "unknown" where it does not. */
const char *cpu_name(void);

#endif
