// Weights of a convolution, float32. Those of a group of output blocks lie in one run: the bias of each of its blocks (1 vec4 each),
// then for each tap and each input channel, in order, 1 vec4 for each of its blocks.
//
// WEIGHTS(binding)       declares them
// WEIGHT(slice, index)   reads a vec4; the slice counts only where they lie in uniform blocks, of which no group straddles two
//
// An address that is the same for a whole workgroup (made from gl_WorkGroupID and loop counters alone) is fetched once from a uniform
// block, and by no more than one request through the texture units.

#if READ_PATH == 2
#define WEIGHTS(index) \
    layout(set = 0, binding = index, std140) uniform Weights { vec4 values[4096]; } weights[8]
#define WEIGHT(slice, index) weights[slice].values[index]
#elif READ_PATH == 1
#define WEIGHTS(index) layout(set = 0, binding = index) uniform textureBuffer weights
#define WEIGHT(slice, index) texelFetch(weights, int(index))
#else
#define WEIGHTS(index) layout(set = 0, binding = index, std430) readonly restrict buffer Weights { vec4 weights[]; }
#define WEIGHT(slice, index) weights[index]
#endif
