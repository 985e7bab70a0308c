// Over the channels of a pixel: soft-max and arg-max.

#include "check.h"

#include <math.h>
#include <string.h>

// How the values of a pixel are spread.
typedef enum Spread { Narrow, Wide, Equal, Huge, spreadCount } Spread;

static float drawn(Spread spread, ptrdiff_t channel) {
    switch (spread) {
    case Narrow: return randomBetween(-4, 4);
    case Wide: return randomBetween(-120, 120);
    case Equal: return 7.25f;
    // Sums of powers overflow unless the largest is taken off, and so do differences of opposite infinities.
    default: return channel % 3 == 0 ? randomBetween(1e4f, 1.1e4f) : channel % 3 == 1 ? -3e38f : -INFINITY;
    }
}

static void expectSoftmax(const float *source, const float *result, ptrdiff_t channels, ptrdiff_t block) {
    double largest = -INFINITY, sum = 0;
    for (ptrdiff_t c = 0; c < channels; c++) largest = fmax(largest, source[c / lanes * block + c % lanes]);
    for (ptrdiff_t c = 0; c < channels; c++) sum += exp(source[c / lanes * block + c % lanes] - largest);
    for (ptrdiff_t c = 0; c < channels; c++) {
        const ptrdiff_t at = c / lanes * block + c % lanes;
        const double expected = exp(source[at] - largest) / sum;
        expectNear(result[at], expected, "channel", c);
        // Small probabilities keep their digits.
        if (source[at] - largest > -80 && fabs(result[at] - expected) > 1e-5 * expected)
            fail("channel %td is %.9g, expected %.9g", c, result[at], expected);
    }
}

// What lies past the last channel must reach nothing.
static void spoilPast(float *values, ptrdiff_t channels, ptrdiff_t block) {
    const float spoilers[] = {__builtin_nanf(""), INFINITY, 3e38f};
    for (ptrdiff_t c = channels; c % lanes != 0; c++) values[c / lanes * block + c % lanes] = spoilers[c % 3];
}

static void checkSoftmax(ptrdiff_t channels, ptrdiff_t pixels, Spread spread) {
    beginCase("softmax channels=%td pixels=%td spread=%d", channels, pixels, spread);
    const ptrdiff_t block = (pixels + 1) * lanes, floats = blocksOf(channels) * block - lanes;
    float *source = takeFloats(floats), *whole = takeFloats(floats), *parts = takeFloats(floats);
    for (ptrdiff_t p = 0; p < pixels; p++) {
        for (ptrdiff_t c = 0; c < channels; c++) source[c / lanes * block + p * lanes + c % lanes] = drawn(spread, c);
        spoilPast(source + p * lanes, channels, block);
    }
    kernels->softmax(source, block, channels, pixels, whole, block);
    for (ptrdiff_t p = 0; p < pixels; p++) expectSoftmax(source + p * lanes, whole + p * lanes, channels, block);
    for (ptrdiff_t b = 0; b + 1 < blocksOf(channels); b++)
        expectUntouched(whole + b * block + pixels * lanes, floatBytes(lanes), "gap of blocks");
    endCase();
    for (ptrdiff_t cut = 0; cut <= pixels; cut++) {
        memset(parts, 0xff, (size_t)floatBytes(floats));
        kernels->softmax(source + cut * lanes, block, channels, pixels - cut, parts + cut * lanes, block);
        expectUntouched(parts, floatBytes(cut * lanes), "pixels before the first");
        kernels->softmax(source, block, channels, cut, parts, block);
        expectSame(parts, whole, floatBytes(floats), "pixels in two calls");
        endCase();
    }
    kernels->softmax(source, block, channels, pixels, source, block);
    for (ptrdiff_t b = 0; b < blocksOf(channels); b++)
        expectSame(source + b * block, whole + b * block, floatBytes(pixels * lanes), "in place");
    endCase();
}

static void checkSoftmaxRows(ptrdiff_t classes, ptrdiff_t count, Spread spread) {
    beginCase("softmaxRows classes=%td count=%td spread=%d", classes, count, spread);
    const ptrdiff_t stride = blocksOf(classes) * lanes;
    float *source = takeFloats(count * stride), *values = takeFloats(count * stride);
    for (ptrdiff_t i = 0; i < count; i++) {
        for (ptrdiff_t c = 0; c < classes; c++) source[i * stride + c] = drawn(spread, c);
        spoilPast(source + i * stride, classes, lanes);
    }
    memcpy(values, source, (size_t)floatBytes(count * stride));
    kernels->softmaxRows(values, classes, stride, count);
    for (ptrdiff_t i = 0; i < count; i++) expectSoftmax(source + i * stride, values + i * stride, classes, lanes);
    endCase();
}

// `levels` different values: with few of them, nearly every pixel has several largest.
static void checkArgMax(ptrdiff_t channels, ptrdiff_t pixels, int levels) {
    beginCase("argMax channels=%td pixels=%td levels=%d", channels, pixels, levels);
    const ptrdiff_t block = pixels * lanes;
    float *source = takeFloats(blocksOf(channels) * block), *destination = takeFloats(pixels * lanes);
    for (ptrdiff_t p = 0; p < pixels; p++) {
        for (ptrdiff_t c = 0; c < channels; c++)
            source[c / lanes * block + p * lanes + c % lanes] = (float)randomBelow(levels) - 100;
        spoilPast(source + p * lanes, channels, block);
    }
    for (ptrdiff_t cut = 0; cut <= pixels; cut += 1 + pixels / 4) {
        memset(destination, 0xff, (size_t)floatBytes(pixels * lanes));
        kernels->argMax(source + cut * lanes, block, channels, pixels - cut, destination + cut * lanes);
        expectUntouched(destination, floatBytes(cut * lanes), "pixels before the first");
        kernels->argMax(source, block, channels, cut, destination);
        for (ptrdiff_t p = 0; p < pixels; p++) {
            ptrdiff_t best = 0;
            float largest = source[p * lanes];
            for (ptrdiff_t c = 1; c < channels; c++) {
                const float value = source[c / lanes * block + p * lanes + c % lanes];
                if (value > largest) largest = value, best = c;
            }
            if (destination[p * lanes] != (float)best)
                fail("pixel %td is %.9g, expected %td", p, destination[p * lanes], best);
        }
        endCase();
    }
}

void checkChannels(void) {
    const ptrdiff_t pixels[] = {1, 2, 5};
    for (int i = 0; i < channelCountCount; i++)
        for (int j = 0; j < 3; j++) {
            for (Spread spread = 0; spread < spreadCount; spread++) {
                checkSoftmax(channelCounts[i], pixels[j], spread);
                checkSoftmaxRows(channelCounts[i], pixels[j], spread);
            }
            checkArgMax(channelCounts[i], pixels[j], 1);
            checkArgMax(channelCounts[i], pixels[j], 3);
            checkArgMax(channelCounts[i], pixels[j], 1 << 20);
        }
}
