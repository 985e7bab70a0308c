#version 450

// Texels as float32: what the texture units make of them.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) writeonly buffer Destination { vec4 destination[]; };
layout(set = 0, binding = 1) uniform textureBuffer source;

layout(push_constant) uniform Shapes { uint count; };

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at < count) destination[at] = texelFetch(source, int(at));
}
