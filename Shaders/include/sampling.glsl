// Scores of the network at a mask's size: weighted sums of a few rows and columns of a small map. An invocation has 4 neighbouring
// pixels of a row of the mask, a lane each.
//
// Declares bindings 1 to 3 and the push constants; needs storage.glsl and grid.glsl.

SOURCE(1, source);
// For each row of the mask: the first row of the scores (bits of an integer), then rowTaps weights.
layout(set = 0, binding = 2, std430) readonly restrict buffer RowTaps { float rows[]; };
// For each 4 columns of the mask: the first column of the scores (bits in x), then columnTaps weights for the 4 pixels.
layout(set = 0, binding = 3, std430) readonly restrict buffer ColumnTaps { vec4 columns[]; };

layout(push_constant) uniform Shapes {
    uint pictures;
    uint sourceHeight;
    uint sourceWidth;
    uint channels;
    uint height;
    uint width;
    uint quads;        // groups of 4 pixels in a row, the last one filled up
    uint rowTaps;
    uint columnTaps;
    uint seenTop;      // the network has seen rows seenTop ..< seenBottom and columns seenLeft ..< seenRight
    uint seenBottom;
    uint seenLeft;
    uint seenRight;
    uint firstRow;     // the rows that the dispatch makes, counted through all pictures
    uint rowCount;
    uint chosenCount;  // of confidences alone: classes of the dispatch, and vec4 from one to the next
    uint planeStride;
};

// Where the 4 pixels lie: `line` counts the rows of the dispatch.
uint quad, line, y, picture;

// Finds the 4 pixels; false where there are none.
bool findPixels() {
    const uint index = gridIndex();
    line = index / quads;
    quad = index - line * quads;
    picture = (firstRow + line) / height;
    y = firstRow + line - picture * height;
    return line < rowCount;
}

// Which of the 4 pixels the network has seen.
bvec4 seen() {
    const uvec4 x = quad * 4 + uvec4(0, 1, 2, 3);
    const bool rowIsSeen = y >= seenTop && y < seenBottom;
    return bvec4(uvec4(greaterThanEqual(x, uvec4(seenLeft))) & uvec4(lessThan(x, uvec4(seenRight))) & uvec4(rowIsSeen));
}

// The scores of 4 channels at the 4 pixels: column c of the matrix is channel 4 * block + c.
mat4 sampled(uint block) {
    const uint row = y * (1 + rowTaps);
    const uint column = quad * (1 + columnTaps);
    const uint corner = (block * pictures + picture) * sourceHeight * sourceWidth
        + floatBitsToUint(rows[row]) * sourceWidth + floatBitsToUint(columns[column].x);
    mat4 sums = mat4(0);
    for (uint c = 0; c < columnTaps; c++) {
        vec4 sum = vec4(0);
        for (uint r = 0; r < rowTaps; r++)
            sum = fma(FETCH(source, corner + r * sourceWidth + c), vec4(rows[row + 1 + r]), sum);
        const vec4 weights = columns[column + 1 + c];
        sums[0] = fma(weights, vec4(sum.x), sums[0]);
        sums[1] = fma(weights, vec4(sum.y), sums[1]);
        sums[2] = fma(weights, vec4(sum.z), sums[2]);
        sums[3] = fma(weights, vec4(sum.w), sums[3]);
    }
    return sums;
}
