#version 450
#extension GL_GOOGLE_include_directive : require

// The upright picture, put over a background where it is transparent, with each class's colour laid over it. Class 0 stays as it is.
// An invocation has 4 pixels: a word of the category mask, three words of RGB.

#include "grid.glsl"
#include "pixels.glsl"

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { uint destination[]; };
layout(set = 0, binding = 1, std430) readonly restrict buffer Source { uint source[]; };
layout(set = 0, binding = 2, std430) readonly restrict buffer Categories { uint categories[]; };
layout(set = 0, binding = 3, std430) readonly restrict buffer Palette { uint palette[256]; };

layout(push_constant) uniform Shapes {
    uint height;
    uint width;
    uint quads;
    int first;        // the upright picture's first pixel, and the steps to the right and down
    int right;
    int down;
    uint background;
    uint opacity;     // of 255
};

void main() {
    const uint index = gridIndex();
    const uint y = index / quads;
    const uint quad = index - y * quads;
    if (y >= height) return;
    const uint place = (gl_WorkGroupID.z * height + y) * quads + quad;
    const uint classes = categories[place];
    uint colors[4];
    for (uint lane = 0; lane < 4; lane++) {
        // Past the end of a row there is its last pixel again.
        const int x = int(min(quad * 4 + lane, width - 1));
        uvec3 color = flatten(source[gl_WorkGroupID.z * width * height + uint(first + x * right + int(y) * down)], background);
        const uint category = classes >> 8 * lane & 0xff;
        if (category != 0) color = blend(unpackColor(palette[category]), color, opacity);
        colors[lane] = packColor(color);
    }
    destination[place * 3] = colors[0] | colors[1] << 24;
    destination[place * 3 + 1] = colors[1] >> 8 | colors[2] << 16;
    destination[place * 3 + 2] = colors[2] >> 16 | colors[3] << 8;
}
