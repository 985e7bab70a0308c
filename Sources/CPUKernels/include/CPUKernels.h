// Micro-kernels of the CPU backend: one table of functions for each instruction set.
//
// Activations are blocked: [block of channels][pixel][lane], with as many lanes as a vector register holds (`lanes` of the
// table). Lanes past the last channel may hold anything and never reach a channel. All values are float32.
// Nothing here allocates, locks or keeps state, and sizes are checked by the caller.

#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CKActivation {
    CKActivationNone = 0,
    CKActivationRelu = 1,
    CKActivationRelu6 = 2,
    CKActivationHardSwish = 3,
    CKActivationHardSigmoid = 4,
    CKActivationSigmoid = 5,
} CKActivation;

// destination[pixel][output] = activation(bias[output] + sum over k of source[pixel][k] * weights[k][output] + residual)
// for a panel of 1, 2 or 3 blocks of outputs. The sum runs over k in order, one fused multiply-add each.
typedef struct CKProduct {
    const float *source;
    ptrdiff_t sourcePixel;       // floats from one pixel to the next: the lanes, in a blocked source
    ptrdiff_t sourceBlock;       // floats from one block of channels to the next: the lanes, where all k are contiguous
    ptrdiff_t channels;          // how many k
    const float *weights;        // [k][vectors * lanes]
    const float *bias;           // [vectors * lanes]
    const float *residual;       // null, or blocked like the destination
    ptrdiff_t residualBlock;
    float *destination;
    ptrdiff_t destinationBlock;
    ptrdiff_t pixels;
    CKActivation activation;
    bool continues;              // begin with what is in the destination instead of the bias
    bool unfinished;             // leave residual and activation to a later call
} CKProduct;

// A window that slides over one block of channels. A pool's must reach into the source everywhere.
typedef struct CKWindow {
    const float *source;         // first pixel of the block
    const float *zeros;          // a row of zeros as wide as the source
    ptrdiff_t sourceHeight, sourceWidth;
    float *destination;          // first pixel of the block
    ptrdiff_t destinationWidth;
    ptrdiff_t firstRow, endRow;  // rows of the destination to compute
    ptrdiff_t kernelHeight, kernelWidth;
    ptrdiff_t strideHeight, strideWidth;
    ptrdiff_t dilationHeight, dilationWidth;  // depthwise only
    ptrdiff_t top, left;
    const float *weights;        // [kernelHeight][kernelWidth][lanes]
    const float *bias;           // [lanes]
    const float *residual;       // null, or laid out like the destination
    CKActivation activation;
    bool countsPadding;          // average only
} CKWindow;

// One output column of a resize: two neighbours and the share of the second.
typedef struct CKTap {
    int32_t first, second;
    float share;
} CKTap;

// Scores of one picture, and how they are sampled at another size: every output is a weighted sum of a few neighbouring
// rows and columns of scores, with weights that are not negative and add up to one.
typedef struct CKSampler {
    const float *scores;         // [height][width][classStride], -infinity past the last class
    ptrdiff_t width;             // columns of the scores
    ptrdiff_t classes;           // categories: at most 256, since labels are bytes
    ptrdiff_t classStride;       // a multiple of the lanes
    ptrdiff_t rowTaps;           // weights for each output row
    const float *rowWeights;     // [output row][rowTaps]
    const float *columnWeights;  // [tap][columnWeightStride], readable for `lanes` floats past the last output column
    ptrdiff_t columnWeightStride;
    ptrdiff_t outputWidth;
} CKSampler;

// Neighbouring outputs that are made of the same scores: `count` of them from `output`, made of `taps` from `source`.
typedef struct CKRun {
    int32_t output, count, source, taps;
} CKRun;

typedef struct CKTable {
    const char *name;
    int lanes;
    // Pixels in a register tile, by vectors in the panel; index 0 is unused.
    int tilePixels[4];

    void (*product)(const CKProduct *product, int vectors);
    void (*depthwise)(const CKWindow *window);
    void (*averagePool)(const CKWindow *window);
    void (*maxPool)(const CKWindow *window);

    // destination[block][i] = source[block][index[i]], or zeros where the index is negative.
    void (*gather)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t blocks, const int32_t *index, ptrdiff_t count,
                   float *destination, ptrdiff_t destinationBlock);
    // destination[block][index[i]] = source[block][i].
    void (*scatter)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t blocks, const int32_t *index, ptrdiff_t count,
                    float *destination, ptrdiff_t destinationBlock);
    // [pixel][channel] to blocked, zeros in the lanes past the last channel.
    void (*block)(const float *source, ptrdiff_t channels, ptrdiff_t pixels, float *destination,
                  ptrdiff_t destinationBlock);
    // Blocked to [pixel][channel].
    void (*unblock)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t channels, ptrdiff_t pixels,
                    float *destination);

    // `count` vectors; the step of an operand is its distance in floats from one vector to the next, 0 repeats it.
    void (*add)(const float *a, ptrdiff_t aStep, const float *b, ptrdiff_t bStep, float *destination, ptrdiff_t count,
                CKActivation activation);
    void (*multiply)(const float *a, ptrdiff_t aStep, const float *b, ptrdiff_t bStep, float *destination,
                     ptrdiff_t count, CKActivation activation);
    // destination = the mean of `count` vectors.
    void (*mean)(const float *source, ptrdiff_t count, float *destination, CKActivation activation);
    // One output row of one block, between two source rows; rowShare is the share of `b`.
    void (*resizeRow)(const float *a, const float *b, float rowShare, const CKTap *taps, ptrdiff_t count,
                      float *destination, CKActivation activation);
    // Soft-max over the channels of each pixel; may work in place.
    void (*softmax)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t channels, ptrdiff_t pixels,
                    float *destination, ptrdiff_t destinationBlock);
    // Index of the largest channel of each pixel, the lowest of equals, in lane 0.
    void (*argMax)(const float *source, ptrdiff_t sourceBlock, ptrdiff_t channels, ptrdiff_t pixels,
                   float *destination);

    // The class with the largest score, the lowest of equals, for the rows of one run. Destination: the output's first row.
    // `scratch`: (2 + the most taps of a run of columns) * classStride floats.
    void (*categories)(const CKSampler *sampler, const CKRun *rows, const CKRun *columns, ptrdiff_t columnRuns,
                       float *scratch, uint8_t *destination);
    // The scores of one output row that belongs to `rows`: destination is [column][classStride]. `scratch`: one row of scores.
    void (*scoreRow)(const CKSampler *sampler, ptrdiff_t row, const CKRun *rows, const CKRun *columns,
                     ptrdiff_t columnRuns, float *scratch, float *destination);
    // Soft-max over the first `classes` of each of `count` rows of `classStride` floats, in place.
    void (*softmaxRows)(float *values, ptrdiff_t classes, ptrdiff_t classStride, ptrdiff_t count);
    void (*sigmoid)(const float *source, float *destination, ptrdiff_t count);
} CKTable;

// The kernels for an instruction set, or null where this build or this processor lacks it.
// Names: "portable", "avx2" (with FMA), "avx512" (F, VL, BW and DQ), "neon".
const CKTable *ck_table(const char *name);

// Processors that this process may run on: fewer than are online under taskset or in a container's CPU set.
int ck_processor_count(void);

#endif
