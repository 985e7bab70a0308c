#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1,2 TILE=4x1,2x1,1x1
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Depthwise convolution: each channel with a kernel of its own.
//
// An invocation computes one block of 4 channels at PIXELS pixels. The block comes from gl_WorkGroupID, so the taps are uniform
// over the workgroup.

#include "storage.glsl"
#include "weights.glsl"

#define PIXELS TILE_X

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
    uint groupsPerSlice;
};

#include "activation.glsl"

void main() {
    const uint block = gl_WorkGroupID.y;
    const uint slice = block / groupsPerSlice;
    uint weight = (block - slice * groupsPerSlice) * (KERNEL_HEIGHT * KERNEL_WIDTH + 1);
    const uint perPicture = height * width;
    const uint pixels = pictures * perPicture;
    const uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * PIXELS + gl_LocalInvocationID.x;

    // Invocations past the end compute the last pixel again and store nothing.
    uint at[PIXELS];
    uvec3 place[PIXELS];  // first pixel of the picture in the source; source row and column of tap 0 (may wrap around below 0)
    precise vec4 sum[PIXELS];
    [[unroll]] for (uint p = 0; p < PIXELS; p++) {
        at[p] = min(first + p * gl_WorkGroupSize.x, pixels - 1);
        const uint picture = at[p] / perPicture;
        const uint y = (at[p] - picture * perPicture) / width;
        const uint x = at[p] - picture * perPicture - y * width;
        place[p] = uvec3(
            (block * pictures + picture) * sourceHeight * sourceWidth, y * STRIDE_HEIGHT - top, x * STRIDE_WIDTH - left);
        sum[p] = WEIGHT(slice, weight);
    }
    weight += 1;

    // Not unrolled: a driver takes ten seconds for 31x31 taps in a row, and minutes for more.
    for (uint ky = 0; ky < KERNEL_HEIGHT; ky++) {
        for (uint kx = 0; kx < KERNEL_WIDTH; kx++) {
            const vec4 w = WEIGHT(slice, weight + ky * KERNEL_WIDTH + kx);
            [[unroll]] for (uint p = 0; p < PIXELS; p++) {
                // Unsigned: a row above the map is far below it.
                const uint sy = place[p].y + ky * DILATION_HEIGHT;
                const uint sx = place[p].z + kx * DILATION_WIDTH;
                const bool isInside = sy < sourceHeight && sx < sourceWidth;
                const vec4 value = FETCH(source, place[p].x + (isInside ? sy * sourceWidth + sx : 0));
                sum[p] = fma(isInside ? value : vec4(0), w, sum[p]);
            }
        }
    }
    [[unroll]] for (uint p = 0; p < PIXELS; p++) {
        if (first + p * gl_WorkGroupSize.x >= pixels) break;
        precise vec4 value = sum[p];
        if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, block * pictures + at[p] / perPicture);
        if (HAS_RESIDUAL) value += FETCH(residual, block * pixels + at[p]);
        STORE(block * pixels + at[p], activate(value));
    }
}
