// Pictures as they are uploaded: a word a pixel, red in its lowest byte, then green, blue and alpha, which is straight.

uvec3 unpackColor(uint word) { return uvec3(word, word >> 8, word >> 16) & 0xff; }
uint packColor(uvec3 color) { return color.r | color.g << 8 | color.b << 16; }

// x / 255 rounded half up, exact for 0 ... 255 * 255 (Blinn, "Three Wrongs Make a Right", 1995).
uvec3 dividedBy255(uvec3 x) {
    x += 128;
    return (x + (x >> 8)) >> 8;
}

// `top` over `bottom` at an opacity of alpha / 255, rounded half up.
uvec3 blend(uvec3 top, uvec3 bottom, uint alpha) { return dividedBy255(top * alpha + bottom * (255 - alpha)); }

// The colour of a pixel put over a background.
uvec3 flatten(uint word, uint background) { return blend(unpackColor(word), unpackColor(background), word >> 24); }

// A fraction of 255, rounded half up; 0 for what is not a number.
uint toByte(float fraction) {
    precise float level = min(fraction, 1.0) * 255.0 + 0.5;
    return fraction > 0.0 ? uint(level) : 0;
}
