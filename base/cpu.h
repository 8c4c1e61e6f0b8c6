/* The processors that this process may use. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

/* Physical cores within the process's affinity and the quota of its cgroup (version 2, as a
 * container sees it), at least 1: hyperthreads of one core share its
 * arithmetic units, so a second one gains nothing here. */
int cpu_cores(void);

/* The processor's name as the system gives it, "unknown" where it does not. */
const char *cpu_name(void);

#endif
