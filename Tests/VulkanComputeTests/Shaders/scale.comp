#version 450
#pragma variants BACKWARDS=0,1

// destination[i] = source[i] * FACTOR + offset; backwards from the last.

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint FACTOR = 1;

layout(set = 0, binding = 0, std430) writeonly buffer Destination { uint destination[]; };
layout(set = 0, binding = 1, std430) readonly buffer Source { uint source[]; };

layout(push_constant) uniform Shapes {
    uint count;
    uint offset;
};

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at >= count) return;
    destination[at] = source[BACKWARDS == 1 ? count - 1 - at : at] * FACTOR + offset;
}
