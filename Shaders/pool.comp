#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Average or maximum in a sliding window of each channel.

#include "storage.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const bool HAS_RESIDUAL = false;
layout(constant_id = 3) const bool HAS_PICTURE_BIAS = false;
layout(constant_id = 4) const bool IS_AVERAGE = true;
layout(constant_id = 5) const bool COUNTS_PADDING = false;

DESTINATION(0, destination);
SOURCE(1, source);
SOURCE(2, residual);
SOURCE(3, pictureBias);

layout(push_constant) uniform Shapes {
    uint pictures;
    int sourceHeight;
    int sourceWidth;
    uint height;
    uint width;
    int top;
    int left;
    int kernelHeight;
    int kernelWidth;
    int strideHeight;
    int strideWidth;
};

#include "activation.glsl"

void main() {
    const uint block = gl_WorkGroupID.y;
    const uint perPicture = height * width;
    const uint pixels = pictures * perPicture;
    const uint at = gl_GlobalInvocationID.x;
    if (at >= pixels) return;
    const uint picture = at / perPicture;
    const uint y = (at - picture * perPicture) / width;
    const uint x = at - picture * perPicture - y * width;
    const int row = int(y) * strideHeight - top;
    const int column = int(x) * strideWidth - left;
    const int y0 = max(row, 0), y1 = min(row + kernelHeight, sourceHeight);
    const int x0 = max(column, 0), x1 = min(column + kernelWidth, sourceWidth);
    const uint base = (block * pictures + picture) * uint(sourceHeight * sourceWidth);

    vec4 value = vec4(IS_AVERAGE ? 0.0 : uintBitsToFloat(0xff800000u));
    for (int sy = y0; sy < y1; sy++) {
        for (int sx = x0; sx < x1; sx++) {
            const vec4 next = FETCH(source, base + uint(sy * sourceWidth + sx));
            value = IS_AVERAGE ? value + next : max(value, next);
        }
    }
    if (IS_AVERAGE) value /= float(COUNTS_PADDING ? kernelHeight * kernelWidth : (y1 - y0) * (x1 - x0));
    if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, block * pictures + picture);
    if (HAS_RESIDUAL) value += FETCH(residual, block * pixels + at);
    STORE(block * pixels + at, activate(value));
}
