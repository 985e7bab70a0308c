#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Channels of several activations one after another.
//
// One dispatch for each input: it writes the output blocks whose first channel is the input's. Such a block may reach into the next
// inputs: with one channel each, into the three that follow.

#include "storage.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ACTIVATION = 0;

DESTINATION(0, destination);
SOURCE(1, source0);
SOURCE(2, source1);
SOURCE(3, source2);
SOURCE(4, source3);

layout(push_constant) uniform Shapes {
    uint pixels;
    uint firstBlock;   // of the output, written by this dispatch
    uint firstChannel; // of source0 in the output
    uint channels0;
    uint channels1;
    uint channels2;
    uint channels3;
};

#include "activation.glsl"

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at >= pixels) return;
    const uint block = firstBlock + gl_WorkGroupID.y;
    vec4 value = vec4(0);
    for (uint lane = 0; lane < 4; lane++) {
        uint channel = block * 4 + lane - firstChannel;
        vec4 from = vec4(0);
        if (channel < channels0) {
            from = FETCH(source0, channel / 4 * pixels + at);
        } else if ((channel -= channels0) < channels1) {
            from = FETCH(source1, channel / 4 * pixels + at);
        } else if ((channel -= channels1) < channels2) {
            from = FETCH(source2, channel / 4 * pixels + at);
        } else if ((channel -= channels2) < channels3) {
            from = FETCH(source3, channel / 4 * pixels + at);
        }
        value[lane] = from[channel & 3];
    }
    STORE(block * pixels + at, activate(value));
}
