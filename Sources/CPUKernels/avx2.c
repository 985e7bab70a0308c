// x86-64 with AVX2 and FMA: 16 registers of 8 floats, of which 12 accumulate.

#if defined(__x86_64__)

#define LANES 8
#define TABLE avx2
#define TABLE_NAME "avx2"
#define TILE1 12
#define TILE2 6
#define TILE3 4
#define FUSED 1

#include "CPUKernels.h"

#include <math.h>
#include <string.h>

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "template/kernels.h"
#pragma clang attribute pop

#endif
