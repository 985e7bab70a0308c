#version 450
#pragma variants FLOAT16=0,1 INTO_INPUT=0,1
#extension GL_GOOGLE_include_directive : require

// One pass of a resize of 8-bit pixels: along rows or along columns, in integers with 22-bit weights, rounded to 8 bits.
//
// The first pass reads the uploaded picture as it is stored: steps in pixels say where the upright picture's rows and columns lie.
// The last one writes the network's input (INTO_INPUT): normalised, bars around it where the picture does not fill it.
// One pass may be both.

#define READ_PATH 0
#include "storage.glsl"
#include "grid.glsl"
#include "pixels.glsl"

layout(constant_id = 1) const bool ALONG_COLUMNS = false;  // the pass goes down the columns
layout(constant_id = 2) const bool FROM_PICTURE = false;   // pixels have alpha, and may have to become gray
layout(constant_id = 3) const uint ORDER = 0;              // 0: red, green, blue; 1: blue, green, red; 2: gray

#if INTO_INPUT
DESTINATION(0, destination);
#else
layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { uint destination[]; };
#endif
layout(set = 0, binding = 1, std430) readonly restrict buffer Source { uint source[]; };
// For each position along the pass: its first source position; then for each their number; then their weights, the first of every
// position, the second of every position, and so on.
layout(set = 0, binding = 2, std430) readonly restrict buffer Taps { uint taps[]; };
// The normalised value of every byte, 256 for each channel in the network's order; read where INTO_INPUT alone.
layout(set = 0, binding = 3, std430) readonly restrict buffer Normalization { float normalized[]; };

layout(push_constant) uniform Shapes {
    uint width;         // of what is written
    uint height;
    uint left;          // where the picture lies in it
    uint top;
    uint innerWidth;
    uint innerHeight;
    int first;          // the first source pixel, and the steps from pixel to pixel: along the pass, and from line to line
    int along;
    int across;
    uint sourcePixels;  // of one picture
    uint background;    // what shows through transparent pixels
    uint padding;       // the colour around the picture
};

const uint HALF = 1 << 21;

uint luminance(uvec3 color) { return (color.r * 19595 + color.g * 38470 + color.b * 7471 + 0x8000) >> 16; }

uvec3 fetch(int index) {
    const uint word = source[gl_WorkGroupID.z * sourcePixels + uint(index)];
    if (!FROM_PICTURE) return unpackColor(word);
    const uvec3 color = flatten(word, background);
    return ORDER == 2 ? uvec3(luminance(color), 0, 0) : color;
}

uvec3 resized(uint x, uint y) {
    const uint position = ALONG_COLUMNS ? y : x;
    const uint line = ALONG_COLUMNS ? x : y;
    const uint positions = ALONG_COLUMNS ? innerHeight : innerWidth;
    const uint count = taps[positions + position];
    int from = first + int(line) * across + int(taps[position]) * along;
    uvec3 sum = uvec3(HALF);
    for (uint tap = 0; tap < count; tap++) {
        sum += fetch(from) * taps[(2 + tap) * positions + position];
        from += along;
    }
    // Rounded weights may add up to a little more than one.
    return min(sum >> 22, uvec3(255));
}

void main() {
    const uint at = gridIndex();
    if (at >= width * height) return;
    const uint y = at / width;
    const uint x = at - y * width;
    uvec3 color = unpackColor(padding);
    if (x - left < innerWidth && y - top < innerHeight) color = resized(x - left, y - top);
    const uint index = gl_WorkGroupID.z * width * height + at;
#if INTO_INPUT
    if (ORDER == 1) color = color.bgr;
    STORE(index, ORDER == 2
        ? vec4(normalized[color.x], 0, 0, 0)
        : vec4(normalized[color.x], normalized[256 + color.y], normalized[512 + color.z], 0));
#else
    destination[index] = packColor(color);
#endif
}
