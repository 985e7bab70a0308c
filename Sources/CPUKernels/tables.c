// Which kernels this processor can run.

#include "CPUKernels.h"

#include <string.h>

extern const CKTable ck_table_portable;
#if defined(__x86_64__)
extern const CKTable ck_table_avx2, ck_table_avx512;
#elif defined(__aarch64__)
extern const CKTable ck_table_neon;
#endif

const CKTable *ck_table(const char *name) {
    if (strcmp(name, "portable") == 0) return &ck_table_portable;
#if defined(__x86_64__)
    // __builtin_cpu_supports also asks whether the operating system saves the registers.
    __builtin_cpu_init();
    if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &ck_table_avx2;
    if (strcmp(name, "avx512") == 0 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return &ck_table_avx512;
#elif defined(__aarch64__)
    if (strcmp(name, "neon") == 0) return &ck_table_neon;
#endif
    return NULL;
}
