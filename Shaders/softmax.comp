#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Soft-max over the channels of each pixel.

#include "storage.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;

DESTINATION(0, destination);
SOURCE(1, source);

layout(push_constant) uniform Shapes {
    uint pixels;
    uint channels;
};

#include "activation.glsl"

// Lanes past the last channel become `filler`.
vec4 lanes(vec4 value, uint block, float filler) {
    const uint left = channels - block * 4;
    return vec4(value.x, left > 1 ? value.y : filler, left > 2 ? value.z : filler, left > 3 ? value.w : filler);
}

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at >= pixels) return;
    const uint blocks = (channels + 3) / 4;
    const float lowest = -3.402823e38;
    vec4 top = vec4(lowest);
    for (uint b = 0; b < blocks; b++) top = max(top, lanes(FETCH(source, b * pixels + at), b, lowest));
    const float largest = max(max(top.x, top.y), max(top.z, top.w));
    vec4 sum = vec4(0);
    for (uint b = 0; b < blocks; b++) sum += lanes(exp(FETCH(source, b * pixels + at) - largest), b, 0.0);
    const float share = 1.0 / ((sum.x + sum.y) + (sum.z + sum.w));
    for (uint b = 0; b < blocks; b++)
        STORE(b * pixels + at, activate(lanes(exp(FETCH(source, b * pixels + at) - largest), b, 0.0) * share));
}
