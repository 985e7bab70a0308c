// Cases, their memory and their random numbers.

#define _GNU_SOURCE
#include "check.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const CKTable *kernels;
ptrdiff_t lanes;

const ptrdiff_t channelCounts[] = {1, 3, 4, 8, 12, 21, 48, 80, 480};
const int channelCountCount = sizeof channelCounts / sizeof channelCounts[0];

// Four of them are a NaN, so that a value that was never written shows in every sum.
enum { untouched = 0xff };
enum { slotCount = 12, bandBytes = 256, shownFailures = 20, doubleCount = 1 << 18 };
static const ptrdiff_t slotBytes = 8 << 20;

typedef struct Slot {
    char *start;         // of the memory that can be touched
    char *buffer;        // of the current case, or null
    ptrdiff_t byteCount;
} Slot;

static Slot slots[slotCount];
static int usedSlots;
static double doubles[doubleCount];
static ptrdiff_t usedDoubles;
static char line[400];
static bool caseFails;
static long caseCount, failureCount;
static uint64_t seed;

static void stop(const char *reason) {
    printf("%s %s: %s\n", kernels ? kernels->name : "", line, reason);
    exit(2);
}

static void reportFault(int number) {
    // Not safe in a handler for a fault in printf; the kernels, where faults come from, call nothing.
    printf("%s %s: %s\n", kernels->name, line,
           number == SIGILL ? "illegal instruction" : "touches memory outside its buffers");
    fflush(stdout);
    _exit(1);
}

static void makeSlots(void) {
    const ptrdiff_t page = sysconf(_SC_PAGESIZE);
    for (int i = 0; i < slotCount; i++) {
        const size_t size = (size_t)(slotBytes + 2 * page);
        char *map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED || mprotect(map + page, (size_t)slotBytes, PROT_READ | PROT_WRITE) != 0)
            stop("no memory for the check");
        slots[i].start = map + page;
    }
}

void beginCase(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    seed = 0xcbf29ce484222325;  // FNV-1a
    for (const char *c = line; *c; c++) seed = (seed ^ (uint8_t)*c) * 0x100000001b3;
    caseFails = false;
    usedSlots = 0;
    usedDoubles = 0;
}

void fail(const char *format, ...) {
    if (caseFails) return;  // one line a case
    caseFails = true;
    failureCount++;
    if (failureCount > shownFailures) return;
    printf("%s %s: ", kernels->name, line);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void endCase(void) {
    caseCount++;
    for (int i = 0; i < usedSlots; i++) {
        const Slot *slot = &slots[i];
        if (slot->buffer > slot->start) expectUntouched(slot->buffer - bandBytes, bandBytes, "memory before a buffer");
        char *end = slot->buffer + slot->byteCount;
        if (end < slot->start + slotBytes) expectUntouched(end, bandBytes, "memory past a buffer");
    }
}

void *take(ptrdiff_t byteCount) {
    if (usedSlots == slotCount || byteCount > slotBytes - bandBytes) stop("takes more memory than the check has");
    Slot *slot = &slots[usedSlots++];
    const bool atEnd = randomBelow(4) > 0;  // reading past the end is the likelier mistake
    slot->byteCount = byteCount;
    slot->buffer = atEnd ? slot->start + slotBytes - byteCount : slot->start;
    memset(atEnd ? slot->buffer - bandBytes : slot->buffer, untouched, (size_t)(byteCount + bandBytes));
    return slot->buffer;
}

float *takeFloats(ptrdiff_t count) { return take(floatBytes(count)); }

float *takeRandom(ptrdiff_t count, float low, float high) {
    float *values = takeFloats(count);
    for (ptrdiff_t i = 0; i < count; i++) values[i] = randomBetween(low, high);
    return values;
}

double *takeDoubles(ptrdiff_t count) {
    if (count > doubleCount - usedDoubles) stop("takes more memory than the check has");
    double *values = doubles + usedDoubles;
    usedDoubles += count;
    memset(values, 0, (size_t)count * sizeof(double));
    return values;
}

// SplitMix64, by Sebastiano Vigna.
uint32_t randomBits(void) {
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (uint32_t)(z >> 32);
}

int randomBelow(int end) { return (int)((uint64_t)randomBits() * (uint64_t)end >> 32); }

float randomBetween(float low, float high) { return low + (high - low) * ((float)(randomBits() >> 8) * 0x1p-24f); }

void expectNear(float value, double expected, const char *what, ptrdiff_t place) {
    if (fabs(value - expected) <= 1e-4 * fmax(1, fabs(expected))) return;
    if (isnan(value) && isnan(expected)) return;
    fail("%s %td is %.9g, expected %.9g", what, place, value, expected);
}

void expectSame(const void *bytes, const void *expected, ptrdiff_t byteCount, const char *what) {
    if (memcmp(bytes, expected, (size_t)byteCount) == 0) return;
    const char *a = bytes, *b = expected;
    ptrdiff_t i = 0;
    while (a[i] == b[i]) i++;
    fail("%s: byte %td of %td differs", what, i, byteCount);
}

void expectUntouched(const void *bytes, ptrdiff_t byteCount, const char *what) {
    const uint8_t *b = bytes;
    for (ptrdiff_t i = 0; i < byteCount; i++)
        if (b[i] != untouched) {
            fail("%s: byte %td was written", what, i);
            return;
        }
}

double activated(double x, CKActivation activation) {
    const double hard = fmin(fmax(x + 3, 0), 6) / 6;
    if (isnan(x)) return x;
    switch (activation) {
    case CKActivationNone: return x;
    case CKActivationRelu: return fmax(x, 0);
    case CKActivationRelu6: return fmin(fmax(x, 0), 6);
    case CKActivationHardSwish: return x * hard;
    case CKActivationHardSigmoid: return hard;
    case CKActivationSigmoid: return 1 / (1 + exp(-x));
    }
    return x;
}

// Checks the tables that are named; those that this processor or this build lacks are named as skipped.
int main(int count, char **names) {
    struct sigaction action = {.sa_handler = reportFault};
    for (int i = 0; i < 3; i++) sigaction((int[]){SIGSEGV, SIGBUS, SIGILL}[i], &action, NULL);
    makeSlots();
    bool allPass = true;
    for (int i = 1; i < count; i++) {
        kernels = ck_table(names[i]);
        if (!kernels) {
            printf("%-8s skipped: not on this processor\n", names[i]);
            continue;
        }
        lanes = kernels->lanes;
        caseCount = failureCount = 0;
        checkProduct();
        checkWindows();
        checkLayout();
        checkElementwise();
        checkChannels();
        checkSampler();
        printf("%-8s %ld checks, %ld failures\n", names[i], caseCount, failureCount);
        fflush(stdout);
        allPass = allPass && failureCount == 0;
    }
    return allPass ? 0 : 1;
}
