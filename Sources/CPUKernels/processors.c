// How many processors there are to work with. Swift sees no functions of GNU's own, so this is asked in C.

#define _GNU_SOURCE

#include "CPUKernels.h"

#include <sched.h>
#include <unistd.h>

int ck_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    // More processors than the set has room for.
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (int)online;
}
