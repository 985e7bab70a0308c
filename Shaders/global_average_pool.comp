#version 450
#pragma variants FLOAT16=0,1 READ_PATH=0,1
#extension GL_GOOGLE_include_directive : require

// Mean of each channel over the pixels of a picture: one workgroup for each block of channels and picture.
//
// Each invocation adds up every n-th pixel, then the partial sums are added pairwise: a fixed order, so that the result never varies.

#include "storage.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL_SIZE = 64;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const bool HAS_RESIDUAL = false;
layout(constant_id = 3) const bool HAS_PICTURE_BIAS = false;

DESTINATION(0, destination);
SOURCE(1, source);
SOURCE(2, residual);
SOURCE(3, pictureBias);

layout(push_constant) uniform Shapes {
    uint pictures;
    uint pixelsPerPicture;
};

#include "activation.glsl"

shared vec4 partial[LOCAL_SIZE];

void main() {
    const uint at = gl_WorkGroupID.y * pictures + gl_WorkGroupID.x;  // block and picture
    const uint me = gl_LocalInvocationID.x;
    vec4 sum = vec4(0);
    for (uint pixel = me; pixel < pixelsPerPicture; pixel += LOCAL_SIZE)
        sum += FETCH(source, at * pixelsPerPicture + pixel);
    partial[me] = sum;
    barrier();
    for (uint half_ = LOCAL_SIZE / 2; half_ > 0; half_ /= 2) {
        if (me < half_) partial[me] += partial[me + half_];
        barrier();
    }
    if (me > 0) return;
    vec4 value = partial[0] / float(pixelsPerPicture);
    if (HAS_PICTURE_BIAS) value += FETCH(pictureBias, at);
    if (HAS_RESIDUAL) value += FETCH(residual, at);
    STORE(at, activate(value));
}
