#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Confidences of chosen classes: the soft-max of the sampled scores, or their sigmoid, or the scores as they are. A plane for each
// class; 0 where the network has not seen the pixel.

#include "storage.glsl"
#include "grid.glsl"

layout(constant_id = 1) const uint FUNCTION = 0;  // 0: as they are; 1: soft-max over the channels; 2: sigmoid
layout(constant_id = 2) const bool IS_SUBJECT_ONLY = false;  // a single channel: class 1, and what is missing to one is class 0

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { vec4 destination[]; };
#include "sampling.glsl"
layout(set = 0, binding = 4, std430) readonly restrict buffer Chosen { uint chosen[]; };

void main() {
    if (!findPixels()) return;
    // The largest score, and the sum of exp(score - largest), in one walk over the channels.
    vec4 largest = vec4(-3.402823e38);
    vec4 sum = vec4(0);
    if (FUNCTION == 1) {
        for (uint block = 0; block * 4 < channels; block++) {
            const mat4 scores = sampled(block);
            const uint lanes = min(4, channels - block * 4);
            vec4 next = largest;
            for (uint lane = 0; lane < lanes; lane++) next = max(next, scores[lane]);
            sum *= exp(largest - next);
            for (uint lane = 0; lane < lanes; lane++) sum += exp(scores[lane] - next);
            largest = next;
        }
    }
    const bvec4 isSeen = seen();
    for (uint plane = 0; plane < chosenCount; plane++) {
        const uint index = chosen[plane];
        const uint channel = IS_SUBJECT_ONLY ? 0 : index;
        vec4 value = sampled(channel / 4)[channel & 3];
        if (FUNCTION == 1) value = exp(value - largest) / sum;
        if (FUNCTION == 2) value = 1.0 / (1.0 + exp(-value));
        if (IS_SUBJECT_ONLY && index == 0) value = 1.0 - value;
        destination[plane * planeStride + line * quads + quad] = mix(vec4(0), value, isSeen);
    }
}
