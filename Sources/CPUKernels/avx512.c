// x86-64 with AVX-512 (F, VL, BW, DQ): 32 registers of 16 floats, of which 24 accumulate.

#if defined(__x86_64__)

#define LANES 16
#define TABLE avx512
#define TABLE_NAME "avx512"
#define TILE1 24
#define TILE2 12
#define TILE3 8
#define FUSED 1

#include "CPUKernels.h"

#include <math.h>
#include <string.h>

#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma"))), apply_to = function)
#include "template/kernels.h"
#pragma clang attribute pop

#endif
