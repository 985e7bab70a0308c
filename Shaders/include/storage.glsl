// How activations and weights are stored, and how they are read: behind a few names, so that each operator is written once.
//
// An activation is a sequence of vec4: [block of 4 channels][picture of the batch][row][column]. Lanes past the last channel
// may hold anything finite.
//
// Defined when compiled:
//   FLOAT16     1: activations are stored as float16, converted when read and written; all arithmetic is float32
//   READ_PATH   0: activations and weights are read by address; 1: through the texture units;
//               2: activations through the texture units, weights from uniform blocks
//
// SOURCE(binding, name)        declares an activation that is read
// DESTINATION(binding, name)   declares an activation that is written
// FETCH(name, index)           reads a vec4
// STORE(index, value)          writes a vec4 of the activation called destination

#if FLOAT16
#define Stored uvec2
Stored toStored(vec4 value) { return uvec2(packHalf2x16(value.xy), packHalf2x16(value.zw)); }
vec4 fromStored(Stored bits) { return vec4(unpackHalf2x16(bits.x), unpackHalf2x16(bits.y)); }
#else
#define Stored vec4
Stored toStored(vec4 value) { return value; }
vec4 fromStored(Stored value) { return value; }
#endif

#if READ_PATH > 0
#define SOURCE(index, name) layout(set = 0, binding = index) uniform textureBuffer name
#define FETCH(name, index) texelFetch(name, int(index))
#else
#define SOURCE(index, name) \
    layout(set = 0, binding = index, std430) readonly restrict buffer name##Buffer { Stored name[]; }
#define FETCH(name, index) fromStored(name[index])
#endif

#define DESTINATION(index, name) \
    layout(set = 0, binding = index, std430) writeonly buffer name##Buffer { Stored name[]; }

#define STORE(index, value) destination[index] = toStored(value)
