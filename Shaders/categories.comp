#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// A category mask: the class of the largest score, the lowest of equals, a byte a pixel. With a single channel: 1 where it reaches a
// threshold. 0 where the network has not seen the pixel.

#include "storage.glsl"
#include "grid.glsl"

layout(constant_id = 1) const bool IS_SUBJECT_ONLY = false;
layout(constant_id = 2) const float THRESHOLD = 0.0;

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { uint destination[]; };
#include "sampling.glsl"

void main() {
    if (!findPixels()) return;
    uvec4 winner = uvec4(0);
    if (IS_SUBJECT_ONLY) {
        winner = uvec4(greaterThanEqual(sampled(0)[0], vec4(THRESHOLD)));
    } else {
        vec4 best = vec4(uintBitsToFloat(0xff800000));
        for (uint block = 0; block * 4 < channels; block++) {
            const mat4 scores = sampled(block);
            for (uint lane = 0; lane < 4; lane++) {
                const uint channel = block * 4 + lane;
                if (channel >= channels) break;
                const bvec4 wins = greaterThan(scores[lane], best);
                winner = mix(winner, uvec4(channel), wins);
                best = mix(best, scores[lane], wins);
            }
        }
    }
    winner = mix(uvec4(0), winner, seen());
    destination[line * quads + quad] = winner.x | winner.y << 8 | winner.z << 16 | winner.w << 24;
}
