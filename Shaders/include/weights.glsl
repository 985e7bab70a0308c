// Weights of a convolution. Those of a group of output blocks lie in one run: the bias of each of its blocks (1 vec4 each), then
// for each input channel, in order, 1 vec4 for each of its blocks.
//
// Defined when compiled: UNIFORM_WEIGHTS, the number of uniform blocks that the weights are cut into, or 0 where they are read
// through the texture units. A group never straddles two blocks. An address that is the same for a whole workgroup (it comes
// from gl_WorkGroupID and from loop counters) is fetched once from a uniform block.

#if UNIFORM_WEIGHTS > 0
#define WEIGHTS(index) \
    layout(set = 0, binding = index, std140) uniform Weights { vec4 values[WEIGHT_BLOCK]; } weights[UNIFORM_WEIGHTS]
#define WEIGHT(slice, index) weights[slice].values[index]
#else
#define WEIGHTS(index) layout(set = 0, binding = index) uniform textureBuffer weights
#define WEIGHT(slice, index) texelFetch(weights, int(index))
#endif
