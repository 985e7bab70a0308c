#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1,2 TILE=4x4,4x2,4x1,1x1
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Convolution with any kernel, stride and dilation.
//
// As pointwise.comp, with one more loop over the taps: an invocation computes PIXELS pixels x BLOCKS blocks of 4 output channels.
// Weights: for each group of output blocks the bias, then for each tap the input channels.

#include "storage.glsl"
#include "weights.glsl"

#define PIXELS TILE_X
#define BLOCKS TILE_Y

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const bool HAS_RESIDUAL = false;
layout(constant_id = 3) const bool HAS_PICTURE_BIAS = false;
layout(constant_id = 4) const uint KERNEL_HEIGHT = 3;
layout(constant_id = 5) const uint KERNEL_WIDTH = 3;
layout(constant_id = 6) const uint STRIDE_HEIGHT = 1;
layout(constant_id = 7) const uint STRIDE_WIDTH = 1;
layout(constant_id = 8) const uint DILATION_HEIGHT = 1;
layout(constant_id = 9) const uint DILATION_WIDTH = 1;

DESTINATION(0, destination);
SOURCE(1, source);
WEIGHTS(2);
SOURCE(3, residual);
SOURCE(4, pictureBias);

layout(push_constant) uniform Shapes {
    uint pictures;
    uint sourceHeight;
    uint sourceWidth;
    uint height;
    uint width;
    uint top;
    uint left;
    uint sourceChannels;
    uint destinationBlocks;
    uint groupsPerSlice;
};

#include "activation.glsl"

void main() {
    const uint group = gl_WorkGroupID.y;
    const uint slice = group / groupsPerSlice;
    uint weight = (group - slice * groupsPerSlice) * (KERNEL_HEIGHT * KERNEL_WIDTH * sourceChannels + 1) * BLOCKS;
    const uint perPicture = height * width;
    const uint pixels = pictures * perPicture;
    const uint sourcePixels = pictures * sourceHeight * sourceWidth;
    const uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * PIXELS + gl_LocalInvocationID.x;

    uint at[PIXELS];
    uvec3 place[PIXELS];  // first pixel of the picture in the source; source row and column of tap 0 (may wrap around below 0)
    [[unroll]] for (uint p = 0; p < PIXELS; p++) {
        at[p] = min(first + p * gl_WorkGroupSize.x, pixels - 1);
        const uint picture = at[p] / perPicture;
        const uint y = (at[p] - picture * perPicture) / width;
        const uint x = at[p] - picture * perPicture - y * width;
        place[p] = uvec3(picture * sourceHeight * sourceWidth, y * STRIDE_HEIGHT - top, x * STRIDE_WIDTH - left);
    }

    precise vec4 sum[PIXELS][BLOCKS];
    [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
        const vec4 bias = WEIGHT(slice, weight + b);
        [[unroll]] for (uint p = 0; p < PIXELS; p++) sum[p][b] = bias;
    }
    weight += BLOCKS;

    for (uint ky = 0; ky < KERNEL_HEIGHT; ky++) {
        for (uint kx = 0; kx < KERNEL_WIDTH; kx++) {
            uint from[PIXELS];
            bool isInside[PIXELS];
            [[unroll]] for (uint p = 0; p < PIXELS; p++) {
                const uint sy = place[p].y + ky * DILATION_HEIGHT;
                const uint sx = place[p].z + kx * DILATION_WIDTH;
                isInside[p] = sy < sourceHeight && sx < sourceWidth;
                from[p] = place[p].x + (isInside[p] ? sy * sourceWidth + sx : 0);
            }
            for (uint channel = 0; channel < sourceChannels; channel += 4) {
                vec4 x[PIXELS];
                [[unroll]] for (uint p = 0; p < PIXELS; p++) {
                    const vec4 value = FETCH(source, channel / 4 * sourcePixels + from[p]);
                    x[p] = isInside[p] ? value : vec4(0);
                }
                const uint lanes = min(4, sourceChannels - channel);
                [[unroll]] for (uint k = 0; k < 4; k++) {
                    if (k >= lanes) break;
                    [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
                        const vec4 w = WEIGHT(slice, weight + k * BLOCKS + b);
                        [[unroll]] for (uint p = 0; p < PIXELS; p++) sum[p][b] = fma(vec4(x[p][k]), w, sum[p][b]);
                    }
                }
                weight += lanes * BLOCKS;
            }
        }
    }

    [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
        const uint block = group * BLOCKS + b;
        if (block >= destinationBlocks) break;
        [[unroll]] for (uint p = 0; p < PIXELS; p++) {
            if (first + p * gl_WorkGroupSize.x >= pixels) break;
            precise vec4 value = sum[p][b];
            if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, block * pictures + at[p] / perPicture);
            if (HAS_RESIDUAL) value += FETCH(residual, block * pixels + at[p]);
            STORE(block * pixels + at[p], activate(value));
        }
    }
}
