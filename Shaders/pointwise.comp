#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1,2 TILE=4x4,4x2,4x1,2x2,1x1
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Pointwise convolution: a matrix product over the pixels of all pictures.
//
// An invocation computes PIXELS pixels x BLOCKS blocks of 4 output channels. The output blocks come from gl_WorkGroupID: weight
// addresses stay uniform over the workgroup. Neighbouring invocations have neighbouring pixels, so that reads coalesce.

#include "storage.glsl"
#include "weights.glsl"

#define PIXELS TILE_X
#define BLOCKS TILE_Y

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
    uint groupsPerSlice;    // groups of output blocks in one uniform block
};

#include "activation.glsl"

void main() {
    const uint group = gl_WorkGroupID.y;
    const uint slice = group / groupsPerSlice;
    uint weight = (group - slice * groupsPerSlice) * (sourceChannels + 1) * BLOCKS;
    const uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * PIXELS + gl_LocalInvocationID.x;

    // Invocations past the end compute the last pixel again and store nothing.
    uint at[PIXELS];
    [[unroll]] for (uint p = 0; p < PIXELS; p++) at[p] = min(first + p * gl_WorkGroupSize.x, pixels - 1);

    precise vec4 sum[PIXELS][BLOCKS];
    [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
        const vec4 bias = WEIGHT(slice, weight + b);
        [[unroll]] for (uint p = 0; p < PIXELS; p++) sum[p][b] = bias;
    }
    weight += BLOCKS;

    const uint wholeBlocks = sourceChannels / 4;
    uint block = 0;
    for (uint k = 0; k < wholeBlocks; k++) {
        vec4 x[PIXELS];
        [[unroll]] for (uint p = 0; p < PIXELS; p++) x[p] = FETCH(source, block + at[p]);
        [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
            const vec4 w0 = WEIGHT(slice, weight + b);
            const vec4 w1 = WEIGHT(slice, weight + BLOCKS + b);
            const vec4 w2 = WEIGHT(slice, weight + 2 * BLOCKS + b);
            const vec4 w3 = WEIGHT(slice, weight + 3 * BLOCKS + b);
            [[unroll]] for (uint p = 0; p < PIXELS; p++) {
                sum[p][b] = fma(vec4(x[p].x), w0, sum[p][b]);
                sum[p][b] = fma(vec4(x[p].y), w1, sum[p][b]);
                sum[p][b] = fma(vec4(x[p].z), w2, sum[p][b]);
                sum[p][b] = fma(vec4(x[p].w), w3, sum[p][b]);
            }
        }
        weight += 4 * BLOCKS;
        block += pixels;
    }
    // The last 1 to 3 channels, where their number is no multiple of 4.
    for (uint k = 0; k < (sourceChannels & 3); k++) {
        [[unroll]] for (uint p = 0; p < PIXELS; p++) {
            const vec4 x = FETCH(source, block + at[p]);
            const float lane = k == 0 ? x.x : k == 1 ? x.y : x.z;
            [[unroll]] for (uint b = 0; b < BLOCKS; b++)
                sum[p][b] = fma(vec4(lane), WEIGHT(slice, weight + b), sum[p][b]);
        }
        weight += BLOCKS;
    }

    [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
        const uint outputBlock = group * BLOCKS + b;
        if (outputBlock >= destinationBlocks) break;
        [[unroll]] for (uint p = 0; p < PIXELS; p++) {
            if (first + p * gl_WorkGroupSize.x >= pixels) break;
            precise vec4 value = sum[p][b];
            if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, outputBlock * pictures + at[p] / pixelsPerPicture);
            if (HAS_RESIDUAL) value += FETCH(residual, outputBlock * pixels + at[p]);
            STORE(outputBlock * pixels + at[p], activate(value));
        }
    }
}
