// Any processor: vectors of four floats in plain arithmetic, no fused multiply-add (in software it would be far slower).

#define LANES 4
#define TABLE portable
#define TABLE_NAME "portable"
#define TILE1 8
#define TILE2 6
#define TILE3 3
#define FUSED 0

#include "template/kernels.h"
