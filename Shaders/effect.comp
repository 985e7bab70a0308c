#version 450
#extension GL_GOOGLE_include_directive : require

// The subject cut out, or over what is behind it: Effects' PixelPass on a device, within one level. An invocation has 4 pixels: four
// words of RGBA, or three of RGB.

#include "grid.glsl"
#include "pixels.glsl"

layout(constant_id = 1) const bool CUTS_OUT = false;
layout(constant_id = 2) const uint BACKDROP = 0;   // behind it is 0: the picture; 1: another one; 2: a grid of colours, 0 to 255
layout(constant_id = 3) const uint TREATMENT = 0;  // of what is behind it: 0: none; 1: gray; 2: darkened

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { uint destination[]; };
layout(set = 0, binding = 1, std430) readonly restrict buffer Layer { uint layer[]; };
// Grids of the subject's colours at edges, of the background's there, 0 to 1, and of colours behind.
#include "bilinear.glsl"
layout(set = 0, binding = 4, std430) readonly restrict buffer Picture { uint picture[]; };
layout(set = 0, binding = 5, std430) readonly restrict buffer Backdrop { uint backdrop[]; };

layout(push_constant) uniform Shapes {
    uint width;
    uint height;
    uint edgeWidth;
    uint edgeHeight;
    uint blurWidth;
    uint blurHeight;
    float brightness;  // what darkening leaves
};

vec3 clampToOne(vec3 color) { return clamp(color, vec3(0), vec3(1)); }

// The two colours of which a pixel of an edge is mixed, 0 to 1: those of their neighbourhoods, moved until their mixture is the
// pixel's.
void separate(uint x, uint y, vec3 color, float alpha, out vec3 subject, out vec3 background) {
    const uvec2 extent = uvec2(edgeWidth, edgeHeight);
    const vec3 near = gridValue(x, y, height, extent, 0, 0).rgb;
    const vec3 behind = gridValue(x, y, height, extent, edgeWidth * edgeHeight, 0).rgb;
    const vec3 rest = color - alpha * near - (1.0 - alpha) * behind;
    // Within what leaves a possible colour for the background.
    const vec3 lowest = clampToOne((color - (1.0 - alpha)) / alpha);
    const vec3 highest = clampToOne(color / alpha);
    subject = min(max(near + alpha * rest, lowest), highest);
    background = clampToOne((color - alpha * subject) / (1.0 - alpha));
}

vec3 treated(vec3 color) {
    if (TREATMENT == 1) return vec3(dot(color, vec3(0.299, 0.587, 0.114)));
    return TREATMENT == 2 ? color * brightness : color;
}

vec3 behindSubject(uint index, uint x, uint y, vec3 color) {
    if (BACKDROP == 0) return color;
    if (BACKDROP == 1) return vec3(unpackColor(backdrop[index]));
    const vec3 blurred =
        gridValue(x, y, height, uvec2(blurWidth, blurHeight), 2 * edgeWidth * edgeHeight, width + height).rgb;
    return floor(clamp(blurred, vec3(0), vec3(255)) + 0.5);
}

uint drawn(uint index) {
    const uint word = layer[index];
    const uint stored = picture[index];
    const uint matte = word >> 24;
    // Holes in the picture stay holes.
    const uint opacity = dividedBy255(uvec3(matte * (stored >> 24))).x;
    if (CUTS_OUT && opacity == 0) return 0;
    if (!CUTS_OUT && opacity == 255) return word & 0xffffff;
    const bool isEdge = matte != 0 && matte != 255;
    // A pixel that was half transparent before keeps its own colour: those of the edge were found against white.
    const bool isMixed = isEdge && opacity == matte;
    if (CUTS_OUT && !isMixed) return (stored & 0xffffff) | opacity << 24;

    const uint y = index / width;
    const uint x = index - y * width;
    const vec3 color = vec3(unpackColor(word));
    vec3 subject;
    vec3 background;
    if (isEdge) separate(x, y, color / 255.0, float(matte) / 255.0, subject, background);
    if (CUTS_OUT) return toByte(subject.r) | toByte(subject.g) << 8 | toByte(subject.b) << 16 | opacity << 24;

    const float alpha = float(opacity) / 255.0;
    const vec3 front = isMixed ? subject * 255.0 : vec3(unpackColor(stored));
    const vec3 behind =
        isEdge && TREATMENT != 0 ? background * 255.0 : behindSubject(index, x, y, color);
    const vec3 mixed = front * alpha + treated(behind) * (1.0 - alpha);
    return packColor(uvec3(clamp(mixed, vec3(0), vec3(255)) + 0.5));
}

void main() {
    const uint first = 4 * gridIndex();
    const uint count = width * height;
    if (first >= count) return;
    uint words[4];
    for (uint lane = 0; lane < 4; lane++) {
        // Past the end there is the last pixel again.
        words[lane] = drawn(min(first + lane, count - 1));
        if (CUTS_OUT && first + lane < count) destination[first + lane] = words[lane];
    }
    if (CUTS_OUT) return;
    destination[first / 4 * 3] = words[0] | words[1] << 24;
    destination[first / 4 * 3 + 1] = words[1] >> 8 | words[2] << 16;
    destination[first / 4 * 3 + 2] = words[2] >> 16 | words[3] << 8;
}
