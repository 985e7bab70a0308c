// Matrix products.

#include "check.h"

#include <string.h>

typedef struct ProductCase {
    int vectors;
    ptrdiff_t channels;
    ptrdiff_t sourcePixel;  // the lanes: a blocked source
    CKActivation activation;
    bool hasResidual;
    ptrdiff_t firstChannels;  // how many k an unfinished call adds before a second continues, or -1: one call
} ProductCase;

typedef struct ProductBuffers {
    ptrdiff_t pixels, sourceBlock, destinationBlock, destinationCount;
    const float *source, *weights, *bias, *residual;
} ProductBuffers;

// Pixels [first, end) into a destination for all pixels.
static void run(const ProductCase *c, const ProductBuffers *b, ptrdiff_t first, ptrdiff_t end, float *destination) {
    CKProduct product = {
        .source = b->source + first * c->sourcePixel,
        .sourcePixel = c->sourcePixel,
        .sourceBlock = b->sourceBlock,
        .channels = c->channels,
        .weights = b->weights,
        .bias = b->bias,
        .residual = b->residual ? b->residual + first * lanes : NULL,
        .residualBlock = b->destinationBlock,
        .destination = destination + first * lanes,
        .destinationBlock = b->destinationBlock,
        .pixels = end - first,
        .activation = c->activation,
    };
    if (c->firstChannels >= 0) {
        product.channels = c->firstChannels;
        product.unfinished = true;
        kernels->product(&product, c->vectors);
        product.channels = c->channels - c->firstChannels;
        product.source += c->firstChannels / lanes * b->sourceBlock;
        product.weights += c->firstChannels * c->vectors * lanes;
        product.unfinished = false;
        product.continues = true;
    }
    kernels->product(&product, c->vectors);
}

static void compare(const ProductCase *c, const ProductBuffers *b, const float *destination) {
    const ptrdiff_t width = c->vectors * lanes;
    for (ptrdiff_t p = 0; p < b->pixels; p++) {
        double *sums = takeDoubles(width);
        for (ptrdiff_t o = 0; o < width; o++) sums[o] = b->bias[o];
        for (ptrdiff_t k = 0; k < c->channels; k++) {
            const double x = b->source[k / lanes * b->sourceBlock + p * c->sourcePixel + k % lanes];
            for (ptrdiff_t o = 0; o < width; o++) sums[o] += x * b->weights[k * width + o];
        }
        for (ptrdiff_t o = 0; o < width; o++) {
            const ptrdiff_t at = o / lanes * b->destinationBlock + p * lanes + o % lanes;
            if (b->residual) sums[o] += b->residual[at];
            expectNear(destination[at], activated(sums[o], c->activation), "value", at);
        }
    }
    for (int v = 0; v + 1 < c->vectors; v++)
        expectUntouched(destination + v * b->destinationBlock + b->pixels * lanes, floatBytes(lanes), "gap of blocks");
}

static void check(ProductCase c) {
    beginCase("product vectors=%d channels=%td sourcePixel=%td activation=%d residual=%d firstChannels=%td", c.vectors,
              c.channels, c.sourcePixel, c.activation, c.hasResidual, c.firstChannels);
    const bool isBlocked = c.sourcePixel == lanes;
    const ptrdiff_t width = c.vectors * lanes;
    ProductBuffers b = {.pixels = 2 * kernels->tilePixels[c.vectors] + 3};
    b.sourceBlock = isBlocked ? b.pixels * lanes : lanes;
    b.destinationBlock = (b.pixels + 1) * lanes;
    b.destinationCount = c.vectors * b.destinationBlock - lanes;
    const ptrdiff_t sourceCount =
        isBlocked ? blocksOf(c.channels) * b.sourceBlock : (b.pixels - 1) * c.sourcePixel + c.channels;
    float *source = takeRandom(sourceCount, -1, 1);
    if (isBlocked) {
        // Lanes past the last channel never reach a channel, whatever they hold.
        for (ptrdiff_t k = c.channels; k < blocksOf(c.channels) * lanes; k++)
            for (ptrdiff_t p = 0; p < b.pixels; p++)
                source[k / lanes * b.sourceBlock + p * lanes + k % lanes] = __builtin_nanf("");
    }
    b.source = source;
    b.weights = takeRandom(c.channels * width, -1, 1);
    b.bias = takeRandom(width, -4, 4);
    if (c.hasResidual) b.residual = takeRandom(b.destinationCount, -4, 4);

    float *whole = takeFloats(b.destinationCount);
    run(&c, &b, 0, b.pixels, whole);
    compare(&c, &b, whole);
    endCase();

    // Every number of pixels, from the first and up to the last.
    float *parts = takeFloats(b.destinationCount);
    for (ptrdiff_t cut = 0; cut <= b.pixels; cut++) {
        memset(parts, 0xff, (size_t)floatBytes(b.destinationCount));
        run(&c, &b, cut, b.pixels, parts);
        for (int v = 0; v < c.vectors; v++)
            expectUntouched(parts + v * b.destinationBlock, floatBytes(cut * lanes), "pixels before the first");
        run(&c, &b, 0, cut, parts);
        expectSame(parts, whole, floatBytes(b.destinationCount), "pixels in two calls");
        endCase();
    }
}

void checkProduct(void) {
    for (int vectors = 1; vectors <= 3; vectors++) {
        for (int i = 0; i < channelCountCount; i++) {
            const ptrdiff_t channels = channelCounts[i];
            const ptrdiff_t steps[] = {lanes, 6, 3, 5};
            for (int s = 0; s < 4; s++) {
                // Contiguous sources are rows of a kernel over few channels.
                if (s > 0 && channels > 48) continue;
                check((ProductCase){
                    .vectors = vectors, .channels = channels, .sourcePixel = steps[s],
                    .activation = (i + s) % 3, .hasResidual = (i + s) % 2 == 1, .firstChannels = -1});
            }
        }
        for (int activation = 0; activation < activationCount; activation++) {
            for (int residual = 0; residual < 2; residual++) {
                check((ProductCase){vectors, 12, lanes, activation, residual, -1});
                check((ProductCase){vectors, 21, lanes, activation, residual, 0});
                check((ProductCase){vectors, 3 * lanes, lanes, activation, residual, 2 * lanes});
                check((ProductCase){vectors, 9 + lanes, 6, activation, residual, lanes});
                check((ProductCase){vectors, 2 * lanes, lanes, activation, residual, 2 * lanes});
            }
        }
    }
}
