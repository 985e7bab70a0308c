// The shaders of compositor-webgl.js.
//
// Texture coordinates have the top row at 0, as pictures have it; only the pass to the screen turns them around.

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

// The mask is smaller than the picture. A cubic B-spline between its pixels (four linear reads in place of sixteen) draws
// round outlines where linear interpolation draws diamonds; the step that follows makes them sharp again.
// Source of the four reads: Sigg and Hadwiger, GPU Gems 2, chapter 20.
const SUBJECT = `
uniform sampler2D alphaMask;
uniform vec2 edge; // the mask's values where the subject begins and where it is whole

float cubicMask(vec2 at) {
    vec2 size = vec2(textureSize(alphaMask, 0));
    vec2 place = at * size - 0.5;
    vec2 whole = floor(place);
    vec2 f = place - whole;
    vec2 w0 = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0;
    vec2 w1 = (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    vec2 w3 = f * f * f / 6.0;
    vec2 w2 = 1.0 - w0 - w1 - w3;
    vec2 low = w0 + w1;
    vec2 high = w2 + w3;
    vec2 a = (whole - 0.5 + w1 / low) / size;
    vec2 b = (whole + 1.5 + w3 / high) / size;
    return low.y * (low.x * texture(alphaMask, a).r + high.x * texture(alphaMask, vec2(b.x, a.y)).r)
        + high.y * (low.x * texture(alphaMask, vec2(a.x, b.y)).r + high.x * texture(alphaMask, b).r);
}

float subjectAt(vec2 at) { return smoothstep(edge.x, edge.y, cubicMask(at)); }
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
            float weight = 1.0 - smoothstep(0.02, 0.4, texture(alphaMask, at).r);
            sum += vec4(texture(frame, at).rgb * weight, weight);
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

// The colour of the classes around a place. The sixteen nearest pixels vote with the weights of a cubic B-spline, each
// class gets the sum of its votes, and what is left of the loser is made small: outlines come out round, where the
// indices alone would draw stairs.
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
        classes[one] = categoryAt(corner + ivec2(one & 3, one >> 2));
        areAlike = areAlike && classes[one] == classes[0];
    }
    if (areAlike) {
        vec4 entry = texelFetch(palette, ivec2(int(classes[0]), 0), 0);
        return vec4(entry.rgb * entry.a, entry.a);
    }

    vec4 sum = vec4(0.0);
    float total = 0.0;
    for (int one = 0; one < 16; one++) {
        float votes = 0.0;
        for (int other = 0; other < 16; other++) {
            votes += classes[other] == classes[one] ? w[other & 3].x * w[other >> 2].y : 0.0;
        }
        float weight = w[one & 3].x * w[one >> 2].y * smoothstep(0.35, 0.65, votes);
        vec4 entry = texelFetch(palette, ivec2(int(classes[one]), 0), 0);
        sum += vec4(entry.rgb * entry.a, entry.a) * weight;
        total += weight;
    }
    return total > 0.0 ? sum / total : vec4(0.0);
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

void main() {
    vec2 onScreen = vec2(position.x, 1.0 - position.y);
    vec2 at = vec2(isMirrored ? 1.0 - onScreen.x : onScreen.x, onScreen.y);
    vec3 original = texture(frame, at).rgb;
    if (mode == ${MODE_NUMBERS.original} || onScreen.x < split) {
        color = vec4(original, 1.0);
    } else if (mode == ${MODE_NUMBERS.overlay}) {
        vec4 entry = classColorAt(at);
        color = vec4(original * (1.0 - entry.a * opacity) + entry.rgb * opacity, 1.0);
    } else {
        float subject = subjectAt(at);
        if (mode == ${MODE_NUMBERS.cutout}) color = vec4(original * subject, subject);
        else color = vec4(mix(backgroundAt(at, onScreen, original), original, subject), 1.0);
    }
}`;
