// Drives every function of a table of kernels over awkward shapes, against plain loops in double precision.
//
// A case is begun with a line that holds all its parameters. The line also seeds the case's random values, so a case
// that fails does so again whatever else is run. Memory that kernels see lies between pages that cannot be touched.

#ifndef CHECK_H
#define CHECK_H

#include "CPUKernels.h"

// The same values and references on every processor.
#pragma STDC FP_CONTRACT OFF

// The table under check.
extern const CKTable *kernels;
// Its lanes.
extern ptrdiff_t lanes;

// Awkward numbers of channels.
extern const ptrdiff_t channelCounts[];
extern const int channelCountCount;

// A new case: forgets the memory of the one before and seeds the random values.
void beginCase(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Says what is wrong with the case.
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Counts the case, after a last look at the memory around its buffers.
void endCase(void);

// Memory of the case, each byte 0xff. It ends where a page that cannot be touched begins, or begins where one ends, and
// the other side has a band whose bytes endCase() looks at.
void *take(ptrdiff_t byteCount);
float *takeFloats(ptrdiff_t count);
float *takeRandom(ptrdiff_t count, float low, float high);
double *takeDoubles(ptrdiff_t count);  // for references: plain memory, zero

// Random numbers of the case.
uint32_t randomBits(void);
int randomBelow(int end);
float randomBetween(float low, float high);

// |value - expected| <= 1e-4 * max(1, |expected|)
void expectNear(float value, double expected, const char *what, ptrdiff_t place);
void expectSame(const void *bytes, const void *expected, ptrdiff_t byteCount, const char *what);
void expectUntouched(const void *bytes, ptrdiff_t byteCount, const char *what);

double activated(double x, CKActivation activation);
static const int activationCount = CKActivationSigmoid + 1;

static inline ptrdiff_t blocksOf(ptrdiff_t channels) { return (channels + lanes - 1) / lanes; }
static inline ptrdiff_t floatBytes(ptrdiff_t count) { return count * (ptrdiff_t)sizeof(float); }

void checkProduct(void);
void checkWindows(void);
void checkLayout(void);
void checkElementwise(void);
void checkChannels(void);
void checkSampler(void);

#endif
