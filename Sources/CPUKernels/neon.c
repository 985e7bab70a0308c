// 64-bit Arm: 32 registers of 4 floats, of which up to 24 accumulate. Every such processor has NEON and fused multiply-add.

#if defined(__aarch64__)

#define LANES 4
#define TABLE neon
#define TABLE_NAME "neon"
#define TILE1 16
#define TILE2 10
#define TILE3 8
#define FUSED 1

#include "template/kernels.h"

#endif
