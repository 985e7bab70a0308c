#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1,2
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Transposed convolution: out[o, y * stride + ky - top, x * stride + kx - left] += in[i, y, x] * weights[o, i, ky, kx],
// as a sum for each output: of the taps, those that meet an input. Weights as in convolution.comp.

#include "storage.glsl"
#include "weights.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const bool HAS_RESIDUAL = false;
layout(constant_id = 3) const bool HAS_PICTURE_BIAS = false;
layout(constant_id = 4) const uint KERNEL_HEIGHT = 2;
layout(constant_id = 5) const uint KERNEL_WIDTH = 2;
layout(constant_id = 6) const uint STRIDE_HEIGHT = 2;
layout(constant_id = 7) const uint STRIDE_WIDTH = 2;

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
    uint groupsPerSlice;
};

#include "activation.glsl"

void main() {
    const uint block = gl_WorkGroupID.y;
    const uint slice = block / groupsPerSlice;
    const uint weight = (block - slice * groupsPerSlice) * (KERNEL_HEIGHT * KERNEL_WIDTH * sourceChannels + 1);
    const uint perPicture = height * width;
    const uint pixels = pictures * perPicture;
    const uint sourcePixels = pictures * sourceHeight * sourceWidth;
    const uint at = gl_GlobalInvocationID.x;
    if (at >= pixels) return;
    const uint picture = at / perPicture;
    const uint y = (at - picture * perPicture) / width;
    const uint x = at - picture * perPicture - y * width;

    vec4 sum = WEIGHT(slice, weight);
    for (uint ky = 0; ky < KERNEL_HEIGHT; ky++) {
        for (uint kx = 0; kx < KERNEL_WIDTH; kx++) {
            // Unsigned: what would lie above or left of the map is far outside.
            const uint reachY = y + top - ky;
            const uint reachX = x + left - kx;
            const uint sy = reachY / STRIDE_HEIGHT;
            const uint sx = reachX / STRIDE_WIDTH;
            const bool meets = reachY == sy * STRIDE_HEIGHT && reachX == sx * STRIDE_WIDTH && sy < sourceHeight
                && sx < sourceWidth;
            const uint from = picture * sourceHeight * sourceWidth + (meets ? sy * sourceWidth + sx : 0);
            const uint tap = weight + 1 + (ky * KERNEL_WIDTH + kx) * sourceChannels;
            for (uint channel = 0; channel < sourceChannels; channel++) {
                const vec4 value = FETCH(source, channel / 4 * sourcePixels + from);
                const uint lane = channel & 3;
                const float lanes = lane == 0 ? value.x : lane == 1 ? value.y : lane == 2 ? value.z : value.w;
                sum = fma(vec4(meets ? lanes : 0), WEIGHT(slice, tap + channel), sum);
            }
        }
    }
    if (HAS_PICTURE_BIAS) sum += FETCH(pictureBias, block * pictures + picture);
    if (HAS_RESIDUAL) sum += FETCH(residual, block * pixels + at);
    STORE(block * pixels + at, activate(sum));
}
