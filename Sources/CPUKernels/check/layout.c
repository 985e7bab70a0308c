// Moves: exact to the byte.

#include "check.h"

#include <string.h>

static const float *valueAt(const float *source, ptrdiff_t block, ptrdiff_t channel, ptrdiff_t pixel) {
    return source + channel / lanes * block + pixel * lanes + channel % lanes;
}

static void checkGather(ptrdiff_t blocks, ptrdiff_t count) {
    const ptrdiff_t sourcePixels = 9;
    beginCase("gather blocks=%td count=%td", blocks, count);
    const ptrdiff_t sourceBlock = sourcePixels * lanes, block = (count + 1) * lanes, floats = blocks * block - lanes;
    float *source = takeRandom(blocks * sourceBlock, -9, 9);
    int32_t *index = take(count * (ptrdiff_t)sizeof(int32_t));
    float *expected = takeFloats(floats);
    for (ptrdiff_t i = 0; i < count; i++) {
        index[i] = randomBelow((int)sourcePixels + 2) - 2;
        for (ptrdiff_t b = 0; b < blocks; b++)
            for (ptrdiff_t lane = 0; lane < lanes; lane++)
                expected[b * block + i * lanes + lane] =
                    index[i] < 0 ? 0 : source[b * sourceBlock + index[i] * lanes + lane];
    }
    float *destination = takeFloats(floats);
    for (ptrdiff_t cut = 0; cut <= count; cut++) {
        memset(destination, 0xff, (size_t)floatBytes(floats));
        kernels->gather(source, sourceBlock, blocks, index, cut, destination, block);
        kernels->gather(source, sourceBlock, blocks, index + cut, count - cut, destination + cut * lanes, block);
        expectSame(destination, expected, floatBytes(floats), "values");
        endCase();
    }
}

static void checkScatter(ptrdiff_t blocks, ptrdiff_t count) {
    const ptrdiff_t pixels = count + 3;
    beginCase("scatter blocks=%td count=%td", blocks, count);
    const ptrdiff_t sourceBlock = count * lanes, block = pixels * lanes;
    float *source = takeRandom(blocks * sourceBlock, -9, 9);
    int32_t *index = take(pixels * (ptrdiff_t)sizeof(int32_t));
    for (int i = 0; i < (int)pixels; i++) {  // a permutation
        const int other = randomBelow(i + 1);
        index[i] = index[other];
        index[other] = i;
    }
    float *expected = takeFloats(blocks * block), *destination = takeFloats(blocks * block);
    for (ptrdiff_t b = 0; b < blocks; b++)
        for (ptrdiff_t i = 0; i < count; i++)
            memcpy(expected + b * block + index[i] * lanes, source + b * sourceBlock + i * lanes,
                   (size_t)floatBytes(lanes));
    for (ptrdiff_t cut = 0; cut <= count; cut++) {
        memset(destination, 0xff, (size_t)floatBytes(blocks * block));
        kernels->scatter(source, sourceBlock, blocks, index, cut, destination, block);
        kernels->scatter(source + cut * lanes, sourceBlock, blocks, index + cut, count - cut, destination, block);
        expectSame(destination, expected, floatBytes(blocks * block), "values");
        endCase();
    }
}

static void checkBlock(ptrdiff_t channels, ptrdiff_t pixels) {
    beginCase("block channels=%td pixels=%td", channels, pixels);
    const ptrdiff_t block = (pixels + 1) * lanes, floats = blocksOf(channels) * block - lanes;
    float *source = takeRandom(pixels * channels, -9, 9), *destination = takeFloats(floats);
    for (ptrdiff_t cut = 0; cut <= pixels; cut += 1 + pixels / 4) {
        memset(destination, 0xff, (size_t)floatBytes(floats));
        kernels->block(source + cut * channels, channels, pixels - cut, destination + cut * lanes, block);
        for (ptrdiff_t b = 0; b < blocksOf(channels); b++)
            expectUntouched(destination + b * block, floatBytes(cut * lanes), "pixels before the first");
        kernels->block(source, channels, cut, destination, block);
        for (ptrdiff_t c = 0; c < blocksOf(channels) * lanes; c++)
            for (ptrdiff_t p = 0; p < pixels; p++) {
                const float expected = c < channels ? source[p * channels + c] : 0;
                expectSame(valueAt(destination, block, c, p), &expected, sizeof expected, "value");
            }
        for (ptrdiff_t b = 0; b + 1 < blocksOf(channels); b++)
            expectUntouched(destination + b * block + pixels * lanes, floatBytes(lanes), "gap of blocks");
        endCase();
    }
}

static void checkUnblock(ptrdiff_t channels, ptrdiff_t pixels) {
    beginCase("unblock channels=%td pixels=%td", channels, pixels);
    const ptrdiff_t block = (pixels + 1) * lanes;
    float *source = takeRandom(blocksOf(channels) * block - lanes, -9, 9);
    float *destination = takeFloats(pixels * channels);
    for (ptrdiff_t cut = 0; cut <= pixels; cut += 1 + pixels / 4) {
        memset(destination, 0xff, (size_t)floatBytes(pixels * channels));
        kernels->unblock(source + cut * lanes, block, channels, pixels - cut, destination + cut * channels);
        expectUntouched(destination, floatBytes(cut * channels), "pixels before the first");
        kernels->unblock(source, block, channels, cut, destination);
        for (ptrdiff_t c = 0; c < channels; c++)
            for (ptrdiff_t p = 0; p < pixels; p++)
                expectSame(destination + p * channels + c, valueAt(source, block, c, p), sizeof(float), "value");
        endCase();
    }
}

void checkLayout(void) {
    for (ptrdiff_t blocks = 1; blocks <= 3; blocks++)
        for (ptrdiff_t count = 0; count <= 11; count++) {
            checkGather(blocks, count);
            checkScatter(blocks, count);
        }
    const ptrdiff_t pixels[] = {1, 2, 7, 33};
    for (int i = 0; i < channelCountCount; i++)
        for (int j = 0; j < 4; j++) {
            checkBlock(channelCounts[i], pixels[j]);
            checkUnblock(channelCounts[i], pixels[j]);
        }
}
