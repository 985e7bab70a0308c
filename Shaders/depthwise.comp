#version 450
#pragma variants FLOAT16=0,1 ACCESS=0,1,2
#extension GL_GOOGLE_include_directive : require

// Depthwise convolution: each channel with a kernel of its own.
//
// An invocation computes one block of 4 channels at one pixel. The block comes from gl_WorkGroupID, so the taps are uniform over
// the workgroup.

#include "storage.glsl"
#include "weights.glsl"

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
    const uint at = gl_GlobalInvocationID.x;
    if (at >= pixels) return;
    const uint picture = at / perPicture;
    const uint y = (at - picture * perPicture) / width;
    const uint x = at - picture * perPicture - y * width;
    const uint base = (block * pictures + picture) * sourceHeight * sourceWidth;

    vec4 sum = WEIGHT(slice, weight);
    weight += 1;
    // Not unrolled: a driver takes ten seconds for 31x31 taps in a row, and minutes for more.
    for (uint ky = 0; ky < KERNEL_HEIGHT; ky++) {
        // Unsigned: a row above the map is far below it.
        const uint sy = y * STRIDE_HEIGHT + ky * DILATION_HEIGHT - top;
        for (uint kx = 0; kx < KERNEL_WIDTH; kx++) {
            const uint sx = x * STRIDE_WIDTH + kx * DILATION_WIDTH - left;
            const bool isInside = sy < sourceHeight && sx < sourceWidth;
            const vec4 value = FETCH(source, base + (isInside ? sy * sourceWidth + sx : 0));
            sum = fma(isInside ? value : vec4(0), WEIGHT(slice, weight + ky * KERNEL_WIDTH + kx), sum);
        }
    }
    if (HAS_PICTURE_BIAS) sum += FETCH(pictureBias, block * pictures + picture);
    if (HAS_RESIDUAL) sum += FETCH(residual, block * pixels + at);
    STORE(block * pixels + at, activate(sum));
}
