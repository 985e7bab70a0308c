#version 450

// The first value of each of an array of uniform blocks.

layout(local_size_x = 1) in;

layout(set = 0, binding = 0, std430) writeonly buffer Destination { uint destination[]; };
layout(set = 0, binding = 1, std140) uniform Block { uvec4 values[16]; } blocks[3];

void main() { destination[gl_WorkGroupID.x] = blocks[gl_WorkGroupID.x].values[0].x; }
