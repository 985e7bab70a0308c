#version 450
#extension GL_GOOGLE_include_directive : require

// One pass of a resize of an effect's layer, its four bytes each for itself: along rows or along columns, in integers with 22-bit
// weights, rounded to 8 bits, as resize_picture.comp does it.

#include "grid.glsl"
#include "pixels.glsl"

layout(constant_id = 1) const bool ALONG_COLUMNS = false;  // the pass goes down the columns
layout(constant_id = 2) const uint READING = 0;            // 0: opacities as they are; 1: in their place, how much a pixel counts as
                                                           // background; 2: and colours multiplied by that
layout(constant_id = 3) const bool DIVIDES = false;        // colours are divided by that again

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { uint destination[]; };
layout(set = 0, binding = 1, std430) readonly restrict buffer Source { uint source[]; };
// The first source position of each position, then how many there are, then the first weight of every position, and so on.
layout(set = 0, binding = 2, std430) readonly restrict buffer Taps { uint taps[]; };

layout(push_constant) uniform Shapes {
    uint width;         // of what is written
    uint height;
    uint sourceWidth;
};

const uint HALF = 1 << 21;

uvec4 fetch(uint index) {
    const uint word = source[index];
    const uint opacity = word >> 24;
    const uvec3 color = unpackColor(word);
    if (READING == 0) return uvec4(color, opacity);
    const uint weight = dividedBy255(uvec3((255 - opacity) * (255 - opacity))).x;
    return uvec4(READING == 2 ? dividedBy255(color * weight) : color, weight);
}

void main() {
    const uint at = gridIndex();
    if (at >= width * height) return;
    const uint y = at / width;
    const uint x = at - y * width;
    const uint position = ALONG_COLUMNS ? y : x;
    const uint positions = ALONG_COLUMNS ? height : width;
    const uint count = taps[positions + position];
    const uint along = ALONG_COLUMNS ? sourceWidth : 1;
    uint from = (ALONG_COLUMNS ? x : y * sourceWidth) + taps[position] * along;
    uvec4 sum = uvec4(HALF);
    for (uint tap = 0; tap < count; tap++) {
        sum += fetch(from) * taps[(2 + tap) * positions + position];
        from += along;
    }
    // Rounded weights may add up to a little more than one.
    const uvec4 result = min(sum >> 22, uvec4(255));
    uvec3 color = result.rgb;
    if (DIVIDES && result.a != 0 && result.a != 255) color = min(color * 255 / result.a, uvec3(255));
    destination[at] = packColor(color) | result.a << 24;
}
