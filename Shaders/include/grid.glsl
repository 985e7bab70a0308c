// Work that has no shape of its own: number `x` of a one-dimensional range that is laid out in rows of workgroups, because devices
// bound the workgroups in each direction. The picture of the batch is gl_WorkGroupID.z.

// Before its use: what gl_WorkGroupSize is otherwise, it stays.
layout(local_size_x_id = 0) in;

uint gridIndex() {
    return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
}
