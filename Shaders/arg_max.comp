#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Index of the largest channel of each pixel, the lowest of equals.

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

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at >= pixels) return;
    float largest = FETCH(source, at).x;
    uint best = 0;
    for (uint block = 0; block * 4 < channels; block++) {
        const vec4 value = FETCH(source, block * pixels + at);
        for (uint lane = 0; lane < min(4, channels - block * 4); lane++) {
            if (value[lane] > largest) {
                largest = value[lane];
                best = block * 4 + lane;
            }
        }
    }
    STORE(at, activate(vec4(float(best), 0, 0, 0)));
}
