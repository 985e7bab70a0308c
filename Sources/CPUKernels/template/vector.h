// Vectors of LANES floats, in the terms that every template is written in.
//
// A file that includes the templates defines beforehand:
//   LANES                  floats in a vector register
//   TABLE                  suffix of this instruction set's functions
//   TILE1, TILE2, TILE3    pixels in a register tile for panels of 1, 2 and 3 vectors
//   FUSED                  1 where the processor has a fused multiply-add

#include <math.h>
#include <string.h>

#include "CPUKernels.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(function) JOIN(function, TABLE)
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")

typedef float V __attribute__((ext_vector_type(LANES)));
typedef uint32_t VW __attribute__((ext_vector_type(LANES)));
typedef float VU __attribute__((ext_vector_type(LANES), aligned(4), may_alias));

INLINE V NAME(load)(const float *p) { return *(const VU *)p; }
INLINE void NAME(store)(float *p, V v) { *(VU *)p = v; }
INLINE V NAME(splat)(float x) { return (V)x; }
INLINE V NAME(madd)(V a, V b, V c) {
#if FUSED
    return __builtin_elementwise_fma(a, b, c);
#else
    return a * b + c;
#endif
}
// Written so that a NaN in x comes out again, in one instruction.
INLINE V NAME(atLeast)(V x, V bound) { return bound > x ? bound : x; }
INLINE V NAME(atMost)(V x, V bound) { return bound < x ? bound : x; }

// exp(x) within 2 units in the last place for -87 < x < 88, about 1e-38 below and 2^127 or more above; NaN for NaN.
// Cephes' expf: x = n ln 2 + r with |r| <= ln 2 / 2, exp(r) by a polynomial of degree 6 in r.
INLINE V NAME(exponential)(V x) {
    x = NAME(atMost)(NAME(atLeast)(x, (V)-87.5f), (V)88.3f);
    // x / ln 2 + 1.5 * 2^23 has no bits left for a fraction, so it is rounded, and its lowest bits are those of n.
    const V shifted = NAME(madd)(x, (V)1.44269504088896341f, (V)12582912.0f);
    const V n = shifted - 12582912.0f;
    V r = NAME(madd)(n, (V)-0.693359375f, x);
    r = NAME(madd)(n, (V)2.12194440e-4f, r);
    V p = (V)1.9875691500e-4f;
    p = NAME(madd)(p, r, (V)1.3981999507e-3f);
    p = NAME(madd)(p, r, (V)8.3334519073e-3f);
    p = NAME(madd)(p, r, (V)4.1665795894e-2f);
    p = NAME(madd)(p, r, (V)1.6666665459e-1f);
    p = NAME(madd)(p, r, (V)5.0000001201e-1f);
    p = NAME(madd)(p * r, r, r) + 1.0f;
    VW bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    V power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

INLINE V NAME(activate)(V x, CKActivation activation) {
    switch (activation) {
    case CKActivationNone: return x;
    case CKActivationRelu: return NAME(atLeast)(x, (V)0.0f);
    case CKActivationRelu6: return NAME(atMost)(NAME(atLeast)(x, (V)0.0f), (V)6.0f);
    case CKActivationHardSwish:
        return x * NAME(atMost)(NAME(atLeast)(x + 3.0f, (V)0.0f), (V)6.0f) * (1.0f / 6.0f);
    case CKActivationHardSigmoid: return NAME(atMost)(NAME(atLeast)(x + 3.0f, (V)0.0f), (V)6.0f) * (1.0f / 6.0f);
    case CKActivationSigmoid: return 1.0f / (1.0f + NAME(exponential)(-x));
    }
    return x;
}

INLINE float NAME(largest)(V x) { return __builtin_reduce_max(x); }

// Sum of the lanes, pairwise.
INLINE float NAME(total)(V x) {
    float lanes[LANES];
    NAME(store)(lanes, x);
    UNROLL for (int half = LANES / 2; half > 0; half /= 2)
        UNROLL for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}
