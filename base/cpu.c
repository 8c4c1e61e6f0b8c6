#include "base/cpu.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE__
#    include <xmmintrin.h>
#endif

/* The lowest-numbered hardware thread of the core that `cpu` belongs to, or `cpu` itself where the system is silent. */
static int core_of(int cpu) {
    char path[96];
    int first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (file == NULL) return cpu;
    if (fscanf(file, "%d", &first) != 1) first = cpu;
    fclose(file);
    return first;
}

/* Processors' worth of time that cgroup v2 allows, or 0 where there is no limit. */
static double cgroup_quota(void) {
    double quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (file == NULL) return 0;
    int got = fscanf(file, "%lf %lf", &quota, &period); /* "max 100000" has no number first */
    fclose(file);
    return got == 2 && period > 0 ? quota / period : 0;
}

int cpu_cores(void) {
    cpu_set_t allowed, cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) { /* more processors than the set has room for */
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        return online > 0 ? (int)online : 1;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        int core = core_of(cpu);
        CPU_SET(core >= 0 && core < CPU_SETSIZE ? core : cpu, &cores);
    }
    int count = CPU_COUNT(&cores);
    double quota = cgroup_quota();
    if (quota > 0 && quota < count) count = (int)quota;
    return count > 0 ? count : 1;
}

const char *cpu_name(void) {
    static char name[128];
    char line[256];
    snprintf(name, sizeof name, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file != NULL) fclose(file);
    return name;
}

void cpu_flush_denormals(void) {
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | 0x8000 | 0x0040); /* MXCSR: FTZ for results, DAZ for operands */
#elif defined(__aarch64__)
    unsigned long fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | 1UL << 24)); /* FZ */
#endif
}
