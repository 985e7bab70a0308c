// Depthwise convolutions and pools.

#include "check.h"

#include <math.h>
#include <string.h>

typedef enum Kind { Depthwise, AveragePool, MaxPool } Kind;

typedef struct Pair {
    int height, width;
} Pair;

typedef struct WindowCase {
    Kind kind;
    Pair source, kernel, stride, dilation, padding, overhang;
    CKActivation activation;
    bool hasResidual, countsPadding, isEven;
} WindowCase;

static const char *const names[] = {"depthwise", "averagePool", "maxPool"};

static void call(Kind kind, const CKWindow *window) {
    switch (kind) {
    case Depthwise: kernels->depthwise(window); break;
    case AveragePool: kernels->averagePool(window); break;
    case MaxPool: kernels->maxPool(window); break;
    }
}

static void compare(Kind kind, const CKWindow *w, ptrdiff_t height) {
    for (ptrdiff_t y = 0; y < height; y++)
        for (ptrdiff_t x = 0; x < w->destinationWidth; x++)
            for (ptrdiff_t lane = 0; lane < lanes; lane++) {
                double sum = kind == Depthwise ? w->bias[lane] : 0, largest = -INFINITY;
                ptrdiff_t inside = 0;
                for (ptrdiff_t ky = 0; ky < w->kernelHeight; ky++)
                    for (ptrdiff_t kx = 0; kx < w->kernelWidth; kx++) {
                        const ptrdiff_t sy = y * w->strideHeight + ky * w->dilationHeight - w->top;
                        const ptrdiff_t sx = x * w->strideWidth + kx * w->dilationWidth - w->left;
                        if (sy < 0 || sy >= w->sourceHeight || sx < 0 || sx >= w->sourceWidth) continue;
                        const double value = w->source[(sy * w->sourceWidth + sx) * lanes + lane];
                        const ptrdiff_t tap = ky * w->kernelWidth + kx;
                        sum += kind == Depthwise ? value * w->weights[tap * lanes + lane] : value;
                        largest = fmax(largest, value);
                        inside++;
                    }
                const ptrdiff_t taps = w->countsPadding ? w->kernelHeight * w->kernelWidth : inside;
                double result = kind == MaxPool ? largest : kind == AveragePool ? sum / (double)taps : sum;
                const ptrdiff_t at = (y * w->destinationWidth + x) * lanes + lane;
                if (w->residual) result += w->residual[at];
                expectNear(w->destination[at], activated(result, w->activation), "value", at);
            }
}

static int outputs(int source, int kernel, int stride, int dilation, int padding, int overhang) {
    const int room = source + padding + overhang - ((kernel - 1) * dilation + 1);
    return room < 0 ? 0 : room / stride + 1;
}

static void check(WindowCase c) {
    beginCase("%s source=%dx%d kernel=%dx%d stride=%dx%d dilation=%dx%d padding=%dx%d overhang=%dx%d activation=%d "
              "residual=%d countsPadding=%d even=%d", names[c.kind], c.source.height, c.source.width, c.kernel.height,
              c.kernel.width, c.stride.height, c.stride.width, c.dilation.height, c.dilation.width, c.padding.height,
              c.padding.width, c.overhang.height, c.overhang.width, c.activation, c.hasResidual, c.countsPadding,
              c.isEven);
    const int height = outputs(c.source.height, c.kernel.height, c.stride.height, c.dilation.height, c.padding.height,
                               c.overhang.height);
    const int width = outputs(c.source.width, c.kernel.width, c.stride.width, c.dilation.width, c.padding.width,
                              c.overhang.width);
    if (height == 0 || width == 0) return;
    const ptrdiff_t count = (ptrdiff_t)height * width * lanes;
    float *whole = takeFloats(count), *parts = takeFloats(count);
    float *zeros = takeFloats(c.source.width * lanes);
    memset(zeros, 0, (size_t)floatBytes(c.source.width * lanes));
    const ptrdiff_t sourceFloats = (ptrdiff_t)c.source.height * c.source.width * lanes;
    float *source = takeRandom(sourceFloats, -2, 2);
    for (ptrdiff_t i = lanes; c.isEven && i < sourceFloats; i++) source[i] = source[i % lanes];
    CKWindow window = {
        .source = source,
        .zeros = zeros,
        .sourceHeight = c.source.height, .sourceWidth = c.source.width,
        .destination = whole, .destinationWidth = width,
        .firstRow = 0, .endRow = height,
        .kernelHeight = c.kernel.height, .kernelWidth = c.kernel.width,
        .strideHeight = c.stride.height, .strideWidth = c.stride.width,
        .dilationHeight = c.dilation.height, .dilationWidth = c.dilation.width,
        .top = c.padding.height, .left = c.padding.width,
        .weights = c.kind == Depthwise ? takeRandom(c.kernel.height * c.kernel.width * lanes, -2, 2) : NULL,
        .bias = c.kind == Depthwise ? takeRandom(lanes, -4, 4) : NULL,
        .residual = c.hasResidual ? takeRandom(count, -4, 4) : NULL,
        .activation = c.activation,
        .countsPadding = c.countsPadding,
    };
    call(c.kind, &window);
    compare(c.kind, &window, height);
    endCase();

    window.destination = parts;
    for (int cut = 0; cut <= height; cut += 1 + height / 4) {
        memset(parts, 0xff, (size_t)floatBytes(count));
        window.firstRow = cut, window.endRow = height;
        call(c.kind, &window);
        expectUntouched(parts, floatBytes((ptrdiff_t)cut * width * lanes), "rows before the first");
        window.firstRow = 0, window.endRow = cut;
        call(c.kind, &window);
        expectSame(parts, whole, floatBytes(count), "rows in two calls");
        endCase();
    }
}

static const Pair sources[] = {{1, 1}, {1, 7}, {7, 1}, {5, 4}, {15, 7}, {9, 33}};
enum { sourceCount = sizeof sources / sizeof sources[0] };

static void checkDepthwise(void) {
    const Pair kernelSizes[] = {{1, 1}, {3, 3}, {5, 5}, {3, 1}, {2, 4}};
    const int dilations[] = {1, 2, 4, 24};
    int number = 0;
    for (int s = 0; s < sourceCount; s++)
        for (int k = 0; k < 5; k++)
            for (int stride = 1; stride <= 2; stride++)
                for (int d = 0; d < 4; d++)
                    for (int padding = 0; padding < 3; padding++, number++) {
                        const Pair kernel = kernelSizes[k];
                        const int dilation = dilations[d];
                        // None, as much as keeps the size, and more than the source has.
                        const Pair amount = {
                            padding == 0 ? 0 : (kernel.height - 1) * dilation / 2 + (padding - 1) * 3,
                            padding == 0 ? 0 : (kernel.width - 1) * dilation / 2 + (padding - 1) * 3};
                        const Pair overhang = {amount.height + number % 2, amount.width + number % 3};
                        check((WindowCase){
                            .kind = Depthwise, .source = sources[s], .kernel = kernel, .stride = {stride, stride},
                            .dilation = {dilation, dilation}, .padding = amount, .overhang = overhang,
                            .activation = number % activationCount, .hasResidual = number / 6 % 2 == 1});
                    }
    for (int activation = 0; activation < activationCount; activation++)
        for (int residual = 0; residual < 2; residual++)
            check((WindowCase){
                .kind = Depthwise, .source = {5, 27}, .kernel = {3, 3}, .stride = {2, 1}, .dilation = {1, 2},
                .padding = {1, 2}, .overhang = {1, 2}, .activation = activation, .hasResidual = residual});
}

static void checkPools(void) {
    const Pair kernelSizes[] = {{1, 1}, {2, 2}, {3, 3}, {1, 5}, {9, 4}};
    int number = 0;
    for (Kind kind = AveragePool; kind <= MaxPool; kind++)
        for (int s = 0; s < sourceCount; s++)
            for (int k = 0; k < 5; k++)
                for (int stride = 1; stride <= 3; stride++)
                    for (int padding = 0; padding < 3; padding++, number++) {
                        // Every window reaches into the source.
                        const Pair kernel = kernelSizes[k];
                        const Pair most = {kernel.height - 1, kernel.width - 1};
                        const Pair amount = {most.height * padding / 2, most.width * padding / 2};
                        check((WindowCase){
                            .kind = kind, .source = sources[s], .kernel = kernel, .stride = {stride, 4 - stride},
                            .dilation = {1, 1}, .padding = amount,
                            .overhang = number % 2 == 0 ? amount : (Pair){most.height - amount.height, most.width},
                            .activation = number % activationCount, .countsPadding = number / 6 % 2 == 1});
                    }
    // A window over a whole map of equal values: they round alike, so that mistakes add up instead of cancelling.
    for (int side = 33; side <= 65; side += 32)
        check((WindowCase){
            .kind = AveragePool, .source = {side, side}, .kernel = {side, side}, .stride = {1, 1}, .dilation = {1, 1},
            .isEven = true});
}

void checkWindows(void) {
    checkDepthwise();
    checkPools();
}
