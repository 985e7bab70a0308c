#version 450
#extension GL_GOOGLE_include_directive : require

// The picture under the colours of its classes, as far as each pixel is subject: Effects' PictureDrawing on a device, the same bytes.
// Class 0 stays as it is. An invocation has 4 pixels: a word of classes, three words of RGB.

#include "grid.glsl"
#include "pixels.glsl"

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { uint destination[]; };
layout(set = 0, binding = 1, std430) readonly restrict buffer Layer { uint layer[]; };
layout(set = 0, binding = 2, std430) readonly restrict buffer Classes { uint classes[]; };
layout(set = 0, binding = 3, std430) readonly restrict buffer Palette { uint palette[256]; };

layout(push_constant) uniform Shapes {
    uint count;    // of pixels
    uint opacity;  // of 255
};

void main() {
    const uint quad = gridIndex();
    if (4 * quad >= count) return;
    uint colors[4];
    for (uint lane = 0; lane < 4; lane++) {
        // Past the end there is the last pixel again.
        const uint word = layer[min(4 * quad + lane, count - 1)];
        const uint category = classes[quad] >> 8 * lane & 0xff;
        const uint alpha = category == 0 ? 0 : dividedBy255(uvec3(opacity * (word >> 24))).x;
        colors[lane] = packColor(blend(unpackColor(palette[category]), unpackColor(word), alpha));
    }
    destination[quad * 3] = colors[0] | colors[1] << 24;
    destination[quad * 3 + 1] = colors[1] >> 8 | colors[2] << 16;
    destination[quad * 3 + 2] = colors[2] >> 16 | colors[3] << 8;
}
