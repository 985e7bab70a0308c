// Sums, products, means, resizes and activations.

#include "check.h"

#include <math.h>
#include <string.h>

typedef void (*Binary)(const float *a, ptrdiff_t aStep, const float *b, ptrdiff_t bStep, float *destination,
                       ptrdiff_t count, CKActivation activation);

static void checkBinary(bool isProduct, bool aRepeats, bool bRepeats, ptrdiff_t count, CKActivation activation) {
    beginCase("%s aStep=%td bStep=%td count=%td activation=%d", isProduct ? "multiply" : "add", aRepeats ? 0 : lanes,
              bRepeats ? 0 : lanes, count, activation);
    const Binary function = isProduct ? kernels->multiply : kernels->add;
    const ptrdiff_t aStep = aRepeats ? 0 : lanes, bStep = bRepeats ? 0 : lanes, bytes = floatBytes(count * lanes);
    const float *a = takeRandom(aRepeats ? lanes : count * lanes, -4, 4);
    const float *b = takeRandom(bRepeats ? lanes : count * lanes, -4, 4);
    float *whole = takeFloats(count * lanes), *parts = takeFloats(count * lanes);
    function(a, aStep, b, bStep, whole, count, activation);
    for (ptrdiff_t i = 0; i < count * lanes; i++) {
        const double x = a[i / lanes * aStep + i % lanes], y = b[i / lanes * bStep + i % lanes];
        expectNear(whole[i], activated(isProduct ? x * y : x + y, activation), "value", i);
    }
    for (ptrdiff_t cut = 0; cut <= count; cut += 1 + count / 4) {
        memset(parts, 0xff, (size_t)bytes);
        function(a + cut * aStep, aStep, b + cut * bStep, bStep, parts + cut * lanes, count - cut, activation);
        expectUntouched(parts, floatBytes(cut * lanes), "vectors before the first");
        function(a, aStep, b, bStep, parts, cut, activation);
        expectSame(parts, whole, bytes, "vectors in two calls");
        endCase();
    }
    if (!aRepeats) {
        memcpy(parts, a, (size_t)bytes);
        function(parts, aStep, b, bStep, parts, count, activation);
        expectSame(parts, whole, bytes, "in place");
        endCase();
    }
}

// Where the activations bend, far out, and NaN, which must not disappear.
static void checkActivation(CKActivation activation) {
    beginCase("activation=%d of special values", activation);
    const float values[] = {-0.0f, 0, 1e-30f, -1e-30f, 3, -3, 2.9999998f, -3.0000002f, 6, 6.0000005f, 5.9999995f,
                            87, -87, 88.5f, -88.5f, 500, -500, 1e30f, -1e30f, __builtin_nanf("")};
    const int count = sizeof values / sizeof values[0];
    float *x = takeFloats(lanes), *zero = takeFloats(lanes), *y = takeFloats(lanes);
    memset(zero, 0, (size_t)floatBytes(lanes));
    for (int i = 0; i < count; i++) {
        for (ptrdiff_t lane = 0; lane < lanes; lane++) x[lane] = values[(i + lane) % count];
        kernels->add(x, 0, zero, 0, y, 1, activation);
        for (ptrdiff_t lane = 0; lane < lanes; lane++)
            expectNear(y[lane], activated(x[lane], activation), "value of special", (i + lane) % count);
        endCase();
    }
}

static void checkMean(ptrdiff_t count, bool isConstant, CKActivation activation) {
    beginCase("mean count=%td constant=%d activation=%d", count, isConstant, activation);
    float *source = takeRandom(count * lanes, -1, 5), *destination = takeFloats(lanes);
    // Equal values round alike, so that mistakes add up instead of cancelling.
    for (ptrdiff_t i = lanes; isConstant && i < count * lanes; i++) source[i] = source[i % lanes];
    kernels->mean(source, count, destination, activation);
    for (ptrdiff_t lane = 0; lane < lanes; lane++) {
        double sum = 0;
        for (ptrdiff_t i = 0; i < count; i++) sum += source[i * lanes + lane];
        expectNear(destination[lane], activated(sum / (double)count, activation), "lane", lane);
    }
    endCase();
}

static void checkResizeRow(int sourceWidth, ptrdiff_t count, float rowShare, bool isSameRow, CKActivation activation) {
    beginCase("resizeRow sourceWidth=%d count=%td rowShare=%g sameRow=%d activation=%d", sourceWidth, count, rowShare,
              isSameRow, activation);
    const float *a = takeRandom(sourceWidth * lanes, -4, 4);
    const float *b = isSameRow ? a : takeRandom(sourceWidth * lanes, -4, 4);
    CKTap *taps = take(count * (ptrdiff_t)sizeof(CKTap));
    for (ptrdiff_t i = 0; i < count; i++) {
        const int first = randomBelow(sourceWidth);
        taps[i] = (CKTap){first, first + 1 < sourceWidth ? first + 1 : first, randomBetween(0, 1)};
        if (i % 5 == 0) taps[i].share = 0;
    }
    float *whole = takeFloats(count * lanes), *parts = takeFloats(count * lanes);
    kernels->resizeRow(a, b, rowShare, taps, count, whole, activation);
    for (ptrdiff_t i = 0; i < count; i++)
        for (ptrdiff_t lane = 0; lane < lanes; lane++) {
            const ptrdiff_t first = taps[i].first * lanes + lane, second = taps[i].second * lanes + lane;
            const double share = taps[i].share, above = a[first] * (1 - share) + a[second] * share;
            const double below = b[first] * (1 - share) + b[second] * share;
            expectNear(whole[i * lanes + lane], activated(above * (1 - rowShare) + below * rowShare, activation),
                       "value", i * lanes + lane);
        }
    for (ptrdiff_t cut = 0; cut <= count; cut += 1 + count / 4) {
        memset(parts, 0xff, (size_t)floatBytes(count * lanes));
        kernels->resizeRow(a, b, rowShare, taps + cut, count - cut, parts + cut * lanes, activation);
        expectUntouched(parts, floatBytes(cut * lanes), "columns before the first");
        kernels->resizeRow(a, b, rowShare, taps, cut, parts, activation);
        expectSame(parts, whole, floatBytes(count * lanes), "columns in two calls");
        endCase();
    }
}

static void checkSigmoid(ptrdiff_t count, float scale) {
    beginCase("sigmoid count=%td scale=%g", count, scale);
    float *source = takeRandom(count, -scale, scale), *whole = takeFloats(count), *parts = takeFloats(count);
    kernels->sigmoid(source, whole, count);
    for (ptrdiff_t i = 0; i < count; i++) {
        const double expected = 1 / (1 + exp(-(double)source[i]));
        expectNear(whole[i], expected, "value", i);
        // Small probabilities keep their digits.
        if (fabsf(source[i]) < 87 && fabs(whole[i] - expected) > 1e-6 * expected)
            fail("sigmoid of %.9g is %.9g, expected %.9g", source[i], whole[i], expected);
    }
    for (ptrdiff_t cut = 0; cut <= count; cut++) {
        memset(parts, 0xff, (size_t)floatBytes(count));
        kernels->sigmoid(source + cut, parts + cut, count - cut);
        expectUntouched(parts, floatBytes(cut), "values before the first");
        kernels->sigmoid(source, parts, cut);
        expectSame(parts, whole, floatBytes(count), "values in two calls");
        endCase();
    }
    memcpy(parts, source, (size_t)floatBytes(count));
    kernels->sigmoid(parts, parts, count);
    expectSame(parts, whole, floatBytes(count), "in place");
    endCase();
}

void checkElementwise(void) {
    const ptrdiff_t counts[] = {0, 1, 3, 17};
    for (int activation = 0; activation < activationCount; activation++) {
        for (int i = 0; i < 4; i++)
            for (int operands = 0; operands < 8; operands++)
                checkBinary(operands & 4, operands & 2, operands & 1, counts[i], activation);
        checkActivation(activation);
        for (ptrdiff_t count = 1; count <= 9; count++) checkMean(count, false, activation);
        for (int width = 1; width <= 9; width += 4)
            for (int share = 0; share <= 4; share++)
                checkResizeRow(width, 1 + 3 * width, (float)share / 4, share % 2 == 1, activation);
    }
    const ptrdiff_t pixels[] = {33 * 33, 65 * 65, 257 * 257};
    for (int i = 0; i < 3; i++) {
        checkMean(pixels[i], false, CKActivationNone);
        checkMean(pixels[i], true, CKActivationNone);
    }
    for (ptrdiff_t count = 0; count <= 2 * lanes + 1; count++) {
        checkSigmoid(count, 8);
        checkSigmoid(count, 100);
    }
    checkSigmoid(40, 1000);
}
