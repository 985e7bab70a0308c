#version 450

// Counts to `rounds` in a way that no compiler can see through: for work that is still going on.

layout(local_size_x = 1) in;

layout(set = 0, binding = 0, std430) buffer Destination { uint destination[]; };

layout(push_constant) uniform Shapes { uint rounds; };

void main() {
    uint state = destination[0];
    for (uint round = 0; round < rounds; round++) state = state * 1664525u + 1013904223u + (state >> 13);
    destination[0] = state;
}
