#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// The network's output at the mask's size: height x width x channels, channels innermost; 0 where the network has not seen the pixel.

#include "storage.glsl"
#include "grid.glsl"

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { float destination[]; };
#include "sampling.glsl"

void main() {
    if (!findPixels()) return;
    const bvec4 isSeen = seen();
    const uint pixels = min(4, width - quad * 4);
    const uint first = (line * width + quad * 4) * channels;
    for (uint block = 0; block * 4 < channels; block++) {
        const mat4 scores = sampled(block);
        for (uint lane = 0; lane < min(4, channels - block * 4); lane++) {
            const vec4 value = mix(vec4(0), scores[lane], isSeen);
            for (uint pixel = 0; pixel < pixels; pixel++)
                destination[first + pixel * channels + block * 4 + lane] = value[pixel];
        }
    }
}
