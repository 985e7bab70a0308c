#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Sum or product of two activations, either of which may have one pixel a picture, which is repeated; or, with COPY, the first one
// alone: then nothing but the activation is done.

#include "storage.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const bool HAS_RESIDUAL = false;
layout(constant_id = 3) const bool HAS_PICTURE_BIAS = false;
layout(constant_id = 4) const uint OPERATION = 0;  // 0 add, 1 multiply, 2 copy
layout(constant_id = 5) const bool REPEATS_A = false;
layout(constant_id = 6) const bool REPEATS_B = false;

DESTINATION(0, destination);
SOURCE(1, a);
SOURCE(2, b);
SOURCE(3, residual);
SOURCE(4, pictureBias);

layout(push_constant) uniform Shapes {
    uint pictures;
    uint pixelsPerPicture;
};

#include "activation.glsl"

void main() {
    const uint block = gl_WorkGroupID.y;
    const uint pixels = pictures * pixelsPerPicture;
    if (gl_GlobalInvocationID.x >= pixels) return;
    const uint at = block * pixels + gl_GlobalInvocationID.x;
    const uint picture = block * pictures + gl_GlobalInvocationID.x / pixelsPerPicture;
    vec4 value = FETCH(a, REPEATS_A ? picture : at);
    if (OPERATION != 2) {
        const vec4 other = FETCH(b, REPEATS_B ? picture : at);
        value = OPERATION == 0 ? value + other : value * other;
    }
    if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, picture);
    if (HAS_RESIDUAL) value += FETCH(residual, at);
    STORE(at, activate(value));
}
