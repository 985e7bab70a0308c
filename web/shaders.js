// The shaders of compositor-webgl.js.
//
// Texture coordinates have the top row at 0, as pictures have it; only the pass to the screen turns them around.

import { DARK, LIGHT, STEPS } from "./outline.js";

const vector = (numbers) => `vec4(${numbers.map((number) => number.toFixed(3))})`;

const HEAD = `#version 300 es
precision highp float;
precision highp usampler2D;
in vec2 position;
out vec4 color;
`;

export const VERTEX = `#version 300 es
out vec2 position;
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    position = corner;
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}`;

// How surely a pixel belongs to the subject is a linear function of its colour, and the functions lie on a grid over the
// picture: see guided-filter.js. They are large numbers that nearly cancel out, so that they are read whole and mixed here.
const SUBJECT = `
uniform highp sampler2D functions;

float confidenceAt(vec2 at, vec3 color) {
    ivec2 size = textureSize(functions, 0);
    vec2 place = clamp(at * vec2(size) - 0.5, vec2(0.0), vec2(size - 1));
    ivec2 low = min(ivec2(place), max(size - 2, ivec2(0)));
    ivec2 high = min(low + 1, size - 1);
    vec2 f = place - vec2(low);
    vec4 upper = mix(texelFetch(functions, low, 0), texelFetch(functions, ivec2(high.x, low.y), 0), f.x);
    vec4 lower = mix(texelFetch(functions, ivec2(low.x, high.y), 0), texelFetch(functions, high, 0), f.x);
    return dot(mix(upper, lower, f.y), vec4(color, 1.0));
}
`;

// A small copy of the background: colours weighted by how little they are the subject, so that nothing of it bleeds. The
// weight goes to alpha. Sixteen reads cover the pixels that one small pixel stands for.
export const SHRINK = `${HEAD}${SUBJECT}
uniform sampler2D frame;
uniform vec2 texel; // one small pixel, in texture coordinates

void main() {
    vec4 sum = vec4(0.0);
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 4; x++) {
            vec2 at = position + (vec2(x, y) - 1.5) * 0.25 * texel;
            // What is only a little subject is left out as well: its pixels hold colours of both.
            vec3 own = texture(frame, at).rgb;
            float weight = 1.0 - smoothstep(0.02, 0.4, confidenceAt(at, own));
            sum += vec4(own * weight, weight);
        }
    }
    color = sum / 16.0;
}`;

// One direction of a Gaussian blur.
export const BLUR = `${HEAD}
uniform sampler2D source;
uniform vec2 direction; // one pixel along, in texture coordinates
uniform float sigma; // in pixels

void main() {
    int radius = int(ceil(sigma * 2.5));
    vec4 sum = vec4(0.0);
    float total = 0.0;
    for (int offset = -radius; offset <= radius; offset++) {
        float weight = exp(-0.5 * float(offset * offset) / (sigma * sigma));
        sum += texture(source, position + float(offset) * direction) * weight;
        total += weight;
    }
    color = sum / total;
}`;

/** The numbers of the modes in COMPOSE. */
export const MODE_NUMBERS = { original: 0, overlay: 1, cutout: 2, blur: 3, color: 4, gradient: 5, picture: 6, grey: 7 };

export const COMPOSE = `${HEAD}${SUBJECT}
uniform sampler2D frame;
uniform usampler2D categories;
uniform sampler2D palette; // 256 colours; alpha is 0 for a class that is not shown
uniform sampler2D subjectColors; // those of the subject where it mixes with what is behind it
uniform sampler2D backgroundColors; // and those of what is behind it
uniform vec2 ramp; // opacity over confidence: slope and offset
uniform sampler2D blurred;
uniform sampler2D backdrop;
uniform vec2 backdropScale; // what part of the backdrop is seen
uniform int mode;
uniform bool isMirrored;
uniform float split; // left of it the picture is as it was; below 0: nowhere
uniform float opacity;
uniform vec3 top;
uniform vec3 bottom;

uint categoryAt(ivec2 at) {
    return texelFetch(categories, clamp(at, ivec2(0), textureSize(categories, 0) - 1), 0).r;
}

// The colour of the classes at a place, multiplied by its opacity. The sixteen nearest pixels vote with the weights of a cubic
// B-spline: how much of the place is of a class is smooth, where the indices alone would draw stairs. What is not shown is one class.
vec4 classColorAt(vec2 at) {
    vec2 place = at * vec2(textureSize(categories, 0)) - 0.5;
    ivec2 corner = ivec2(floor(place)) - 1;
    vec2 f = fract(place);
    vec2 w[4];
    w[0] = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0;
    w[1] = (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    w[3] = f * f * f / 6.0;
    w[2] = 1.0 - w[0] - w[1] - w[3];

    uint classes[16];
    bool areAlike = true;
    for (int one = 0; one < 16; one++) {
        uint found = categoryAt(corner + ivec2(one & 3, one >> 2));
        classes[one] = texelFetch(palette, ivec2(int(found), 0), 0).a > 0.0 ? found : 0u;
        areAlike = areAlike && classes[one] == classes[0];
    }
    float share = 1.0;
    uint best = classes[0];
    if (!areAlike) {
        // Of the classes that are shown, the one that most of the place is of.
        share = 0.0;
        best = 0u;
        for (int one = 0; one < 16; one++) {
            float votes = 0.0;
            for (int other = 0; other < 16; other++) {
                votes += classes[other] == classes[one] ? w[other & 3].x * w[other >> 2].y : 0.0;
            }
            if (texelFetch(palette, ivec2(int(classes[one]), 0), 0).a > 0.0 && votes > share) {
                share = votes;
                best = classes[one];
            }
        }
    }
    vec4 entry = texelFetch(palette, ivec2(int(best), 0), 0);
    if (entry.a == 0.0) return vec4(0.0);
    vec4 line = mix(${vector(DARK)} * smoothstep(${STEPS.dark}, share), ${vector(LIGHT)}, smoothstep(${STEPS.light}, share));
    return mix(line, vec4(entry.rgb, 1.0) * opacity, smoothstep(${STEPS.fill}, share));
}

vec3 backgroundAt(vec2 at, vec2 onScreen, vec3 original) {
    if (mode == ${MODE_NUMBERS.blur}) {
        vec4 sum = texture(blurred, at);
        return sum.a > 0.004 ? sum.rgb / sum.a : original;
    }
    if (mode == ${MODE_NUMBERS.color}) return top;
    if (mode == ${MODE_NUMBERS.gradient}) {
        // Bands of equal colour show in a gradient of 8 bits: noise below one step hides them.
        float noise = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5;
        return mix(top, bottom, smoothstep(0.0, 1.0, onScreen.y)) + noise / 255.0;
    }
    if (mode == ${MODE_NUMBERS.picture}) return texture(backdrop, (onScreen - 0.5) * backdropScale + 0.5).rgb;
    return vec3(dot(original, vec3(0.2126, 0.7152, 0.0722)));
}

// A pixel of the edge mixes two colours: what each is taken to be, moved until their mixture is the picture again.
vec3 ownColor(vec2 at, vec3 original, float alpha) {
    vec3 guess = texture(subjectColors, at).rgb;
    vec3 rest = original - alpha * guess - (1.0 - alpha) * texture(backgroundColors, at).rgb;
    vec3 lowest = clamp((original - (1.0 - alpha)) / alpha, 0.0, 1.0);
    vec3 highest = clamp(original / alpha, 0.0, 1.0);
    return clamp(guess + alpha * rest, lowest, highest);
}

void main() {
    vec2 onScreen = vec2(position.x, 1.0 - position.y);
    vec2 at = vec2(isMirrored ? 1.0 - onScreen.x : onScreen.x, onScreen.y);
    vec3 original = texture(frame, at).rgb;
    if (mode == ${MODE_NUMBERS.original} || onScreen.x < split) {
        color = vec4(original, 1.0);
    } else if (mode == ${MODE_NUMBERS.overlay}) {
        vec4 shown = classColorAt(at);
        color = vec4(original * (1.0 - shown.a) + shown.rgb, 1.0);
    } else {
        float alpha = floor(clamp(confidenceAt(at, original) * ramp.x + ramp.y, 0.0, 1.0) * 255.0 + 0.5) / 255.0;
        vec3 own = original;
        vec3 behind = original;
        if (alpha > 0.0 && alpha < 1.0) {
            own = ownColor(at, original, alpha);
            behind = clamp((original - alpha * own) / (1.0 - alpha), 0.0, 1.0);
        }
        if (mode == ${MODE_NUMBERS.cutout}) color = vec4(own * alpha, alpha);
        else color = vec4(mix(backgroundAt(at, onScreen, behind), own, alpha), 1.0);
    }
}`;
