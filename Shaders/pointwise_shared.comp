#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1 TILE=4x2,4x4
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Pointwise convolution as pointwise.comp has it, for graphics cards: a workgroup brings activations and weights of a few channels
// into shared memory, where each is read by many invocations.
//
// A workgroup is COLUMNS x ROWS invocations, an invocation computes PIXELS pixels x BLOCKS blocks of 4 output channels. Sums are
// added up in the same order as there.

#include "storage.glsl"
#include "weights.glsl"

#define PIXELS TILE_X
#define BLOCKS TILE_Y
// As in Variant.swift, which knows the size of a workgroup: COLUMNS * ROWS.
#define COLUMNS 16
#define ROWS 4
// Blocks of 4 input channels in shared memory at a time.
#define SLAB 4

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const bool HAS_RESIDUAL = false;
layout(constant_id = 3) const bool HAS_PICTURE_BIAS = false;

DESTINATION(0, destination);
SOURCE(1, source);
WEIGHTS(2);
SOURCE(3, residual);
SOURCE(4, pictureBias);

layout(push_constant) uniform Shapes {
    uint pixels;            // of all pictures
    uint pixelsPerPicture;
    uint pictures;
    uint sourceChannels;
    uint destinationBlocks;
    uint groupsPerSlice;    // all of them: weights are not sliced here
};

#include "activation.glsl"

shared vec4 activations[SLAB * COLUMNS * PIXELS];  // [block][pixel of the workgroup]
shared vec4 rows[SLAB * 4 * ROWS * BLOCKS];        // [group of output blocks][input channel][block of the group]

void main() {
    const uint invocation = gl_LocalInvocationID.x;
    const uint column = invocation % COLUMNS;
    const uint row = invocation / COLUMNS;
    const uint firstPixel = gl_WorkGroupID.x * COLUMNS * PIXELS;
    const uint firstGroup = gl_WorkGroupID.y * ROWS;
    const uint groupLength = (sourceChannels + 1) * BLOCKS;
    const uint lastGroup = (destinationBlocks + BLOCKS - 1) / BLOCKS - 1;
    const uint sourceBlocks = (sourceChannels + 3) / 4;

    // Invocations past the end compute the last group again and store nothing.
    const uint group = firstGroup + row;
    precise vec4 sum[PIXELS][BLOCKS];
    [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
        const vec4 bias = WEIGHT(0, min(group, lastGroup) * groupLength + b);
        [[unroll]] for (uint p = 0; p < PIXELS; p++) sum[p][b] = bias;
    }

    for (uint first = 0; first < sourceBlocks; first += SLAB) {
        const uint channels = min(SLAB * 4, sourceChannels - first * 4);

        // Nobody reads the slab before any more.
        barrier();
        for (uint i = invocation; i < SLAB * COLUMNS * PIXELS; i += COLUMNS * ROWS) {
            const uint block = min(first + i / (COLUMNS * PIXELS), sourceBlocks - 1);
            const uint pixel = min(firstPixel + i % (COLUMNS * PIXELS), pixels - 1);
            activations[i] = FETCH(source, block * pixels + pixel);
        }
        for (uint i = invocation; i < SLAB * 4 * ROWS * BLOCKS; i += COLUMNS * ROWS) {
            const uint of = min(firstGroup + i / (SLAB * 4 * BLOCKS), lastGroup);
            const uint place = min(i % (SLAB * 4 * BLOCKS), channels * BLOCKS - 1);
            rows[i] = WEIGHT(0, of * groupLength + BLOCKS + first * 4 * BLOCKS + place);
        }
        barrier();

        uint weight = row * SLAB * 4 * BLOCKS;
        for (uint block = 0; block < channels / 4; block++) {
            vec4 x[PIXELS];
            [[unroll]] for (uint p = 0; p < PIXELS; p++)
                x[p] = activations[(block * PIXELS + p) * COLUMNS + column];
            [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
                const vec4 w0 = rows[weight + b];
                const vec4 w1 = rows[weight + BLOCKS + b];
                const vec4 w2 = rows[weight + 2 * BLOCKS + b];
                const vec4 w3 = rows[weight + 3 * BLOCKS + b];
                [[unroll]] for (uint p = 0; p < PIXELS; p++) {
                    sum[p][b] = fma(vec4(x[p].x), w0, sum[p][b]);
                    sum[p][b] = fma(vec4(x[p].y), w1, sum[p][b]);
                    sum[p][b] = fma(vec4(x[p].z), w2, sum[p][b]);
                    sum[p][b] = fma(vec4(x[p].w), w3, sum[p][b]);
                }
            }
            weight += 4 * BLOCKS;
        }
        // The last 1 to 3 channels, where their number is no multiple of 4.
        for (uint k = 0; k < (channels & 3); k++) {
            [[unroll]] for (uint p = 0; p < PIXELS; p++) {
                const vec4 x = activations[(channels / 4 * PIXELS + p) * COLUMNS + column];
                const float lane = k == 0 ? x.x : k == 1 ? x.y : x.z;
                [[unroll]] for (uint b = 0; b < BLOCKS; b++)
                    sum[p][b] = fma(vec4(lane), rows[weight + b], sum[p][b]);
            }
            weight += BLOCKS;
        }
    }

    [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
        const uint outputBlock = group * BLOCKS + b;
        if (outputBlock >= destinationBlocks) break;
        [[unroll]] for (uint p = 0; p < PIXELS; p++) {
            const uint at = firstPixel + p * COLUMNS + column;
            if (at >= pixels) break;
            precise vec4 value = sum[p][b];
            if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, outputBlock * pictures + at / pixelsPerPicture);
            if (HAS_RESIDUAL) value += FETCH(residual, outputBlock * pixels + at);
            STORE(outputBlock * pixels + at, activate(value));
        }
    }
}
