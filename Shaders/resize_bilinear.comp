#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Bilinear resize without antialiasing. Rows and columns of the output come with their two neighbours and the share of the second,
// so that one shader serves every convention.

#include "storage.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const bool HAS_RESIDUAL = false;
layout(constant_id = 3) const bool HAS_PICTURE_BIAS = false;

DESTINATION(0, destination);
SOURCE(1, source);
SOURCE(2, residual);
SOURCE(3, pictureBias);
layout(set = 0, binding = 4, std430) readonly buffer Taps { uvec4 taps[]; };  // rows, then columns: first, second, bits of the share

layout(push_constant) uniform Shapes {
    uint pictures;
    uint sourceHeight;
    uint sourceWidth;
    uint height;
    uint width;
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
    const uvec4 row = taps[y];
    const uvec4 column = taps[height + x];
    const uint base = (block * pictures + picture) * sourceHeight * sourceWidth;
    const float across = uintBitsToFloat(column.z);
    const vec4 a = FETCH(source, base + row.x * sourceWidth + column.x);
    const vec4 b = FETCH(source, base + row.x * sourceWidth + column.y);
    const vec4 c = FETCH(source, base + row.y * sourceWidth + column.x);
    const vec4 d = FETCH(source, base + row.y * sourceWidth + column.y);
    const vec4 above = fma(b - a, vec4(across), a);
    const vec4 below = fma(d - c, vec4(across), c);
    vec4 value = fma(below - above, vec4(uintBitsToFloat(row.z)), above);
    if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, block * pictures + picture);
    if (HAS_RESIDUAL) value += FETCH(residual, block * pixels + at);
    STORE(block * pixels + at, activate(value));
}
