#version 450
#pragma variants FROM_PLANE=0,1
#extension GL_GOOGLE_include_directive : require

// What an effect is drawn from: a word a pixel, the picture's colour before white and, in place of alpha, the subject's opacity.
//
// FROM_PLANE: the opacities are known, 4 in a word. Else a linear function of that colour gives a confidence, and a ramp an opacity,
// bit for bit that of Effects' MatteSource.

#include "grid.glsl"
#include "pixels.glsl"

layout(set = 0, binding = 0, std430) writeonly restrict buffer Destination { uint destination[]; };
layout(set = 0, binding = 1, std430) readonly restrict buffer Source { uint source[]; };
#if FROM_PLANE
layout(set = 0, binding = 2, std430) readonly restrict buffer Plane { uint plane[]; };
#else
#include "bilinear.glsl"
#endif

layout(push_constant) uniform Shapes {
    uint width;
    uint height;
    uint gridWidth;
    uint gridHeight;
    float slope;
    float offset;
};

void main() {
    const uint index = gridIndex();
    if (index >= width * height) return;
    const uvec3 color = flatten(source[index], 0xffffff);
#if FROM_PLANE
    const uint opacity = plane[index >> 2] >> 8 * (index & 3) & 0xff;
#else
    const uint y = index / width;
    precise vec4 terms = gridValue(index - y * width, y, height, uvec2(gridWidth, gridHeight), 0, 0)
        * vec4(vec3(color), 255.0);
    precise float confidence = ((terms.x + terms.y) + (terms.z + terms.w)) * (1.0 / 255.0);
    precise float fraction = confidence * slope + offset;
    const uint opacity = toByte(fraction);
#endif
    destination[index] = packColor(color) | opacity << 24;
}
