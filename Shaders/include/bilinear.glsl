// Grids of vec4 that lie over a picture, read at its pixels by bilinear interpolation: rows first, then columns.
//
// `precise`, and only steps that every device rounds alike: Effects' GridSampler gives the same bits.
//
// Declares bindings 2 and 3.

layout(set = 0, binding = 2, std430) readonly restrict buffer Grids { vec4 grids[]; };
// For each row of the picture the grid's row before it, and as bits how far it lies towards the next one; then for each column.
layout(set = 0, binding = 3, std430) readonly restrict buffer GridTaps { uvec2 gridTaps[]; };

// The value at a pixel. The grid begins at `first`, its taps at `firstTap`; the picture has `rows` rows.
vec4 gridValue(uint x, uint y, uint rows, uvec2 extent, uint first, uint firstTap) {
    const uvec2 row = gridTaps[firstTap + y];
    const uvec2 column = gridTaps[firstTap + rows + x];
    const float down = uintBitsToFloat(row.y);
    const float across = uintBitsToFloat(column.y);
    const uint top = first + row.x * extent.x;
    const uint bottom = first + min(row.x + 1, extent.y - 1) * extent.x;
    const uint left = column.x;
    const uint right = min(column.x + 1, extent.x - 1);
    precise vec4 before = grids[top + left] + (grids[bottom + left] - grids[top + left]) * down;
    precise vec4 behind = grids[top + right] + (grids[bottom + right] - grids[top + right]) * down;
    precise vec4 value = before + (behind - before) * across;
    return value;
}
