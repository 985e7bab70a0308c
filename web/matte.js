// What a frame's masks are drawn from: the functions of guided-filter.js read at every pixel, and the colours of its edges.

import { colorSize, edgeColors } from "./edge-colors.js";
import { coarse, functionsFor, shrink } from "./guided-filter.js";

/** Opacity over confidence, as { slope, offset }, from the confidences where the subject begins and where it is whole. */
export function rampBetween([low, high]) {
    const slope = 1 / (high - low);
    return { slope, offset: -low * slope };
}

/**
 * All that is found once for a frame.
 * @param {Uint8ClampedArray} pixels the frame, four bytes a pixel, all of them opaque
 * @param {{bytes: Uint8Array, width: number, height: number, radius: number}} map the server's confidences
 * @param {{slope: number, offset: number}} ramp
 * @param {object} constants `hello.matte`
 */
export function findMatte(pixels, width, height, map, ramp, constants) {
    const guide = shrink(pixels, width, height, map.width, map.height, true);
    const functions = functionsFor(map.bytes, guide, map.width, map.height, map.radius, constants);
    const confidences = coarse(functions, guide);
    const size = colorSize(width, height, constants.colorSide);
    const mixed = new Uint8ClampedArray(guide);
    for (let index = 0, at = 3; index < confidences.length; index += 1, at += 4) {
        mixed[at] = confidences[index] * ramp.slope + ramp.offset * 255;
    }
    const small = shrink(mixed, map.width, map.height, Math.min(size.width, map.width), Math.min(size.height, map.height));
    const colors = { width: Math.min(size.width, map.width), height: Math.min(size.height, map.height) };
    Object.assign(colors, edgeColors(small, colors.width, colors.height, constants.colorRadii));
    return { functions, width: map.width, height: map.height, confidences, colors };
}

/** For each of `pixels` the place before it and how far it lies towards the next: half-pixel centres, clamped at the ends. */
function linearTaps(places, pixels) {
    const taps = { indices: new Int32Array(pixels), fractions: new Float32Array(pixels) };
    for (let pixel = 0; pixel < pixels; pixel += 1) {
        const place = Math.min(Math.max(((pixel + 0.5) * places) / pixels - 0.5, 0), places - 1);
        taps.indices[pixel] = Math.min(Math.floor(place), Math.max(places - 2, 0));
        taps.fractions[pixel] = places === 1 ? 0 : place - taps.indices[pixel];
    }
    return taps;
}

let tapsKey = "";
let taps = null;

function tapsFor(matte, width, height) {
    const { colors } = matte;
    const key = [matte.width, matte.height, colors.width, colors.height, width, height].join();
    if (key !== tapsKey) {
        tapsKey = key;
        taps = {
            x: linearTaps(matte.width, width),
            y: linearTaps(matte.height, height),
            colorX: linearTaps(colors.width, width),
            colorY: linearTaps(colors.height, height),
            row: new Float32Array((matte.width + 1) * 4),
            kinds: new Uint8Array(matte.width),
        };
    }
    return taps;
}

const [TRANSPARENT, OPAQUE, MIXED] = [0, 1, 2];

/**
 * Calls `edge(index, alpha, x, y)` for each pixel whose opacity depends on its colour, and `run(start, end, isOpaque)` for those in
 * between, row by row.
 */
function forEachPart(pixels, width, height, matte, { slope, offset }, edge, run) {
    const { x: across, y: down, row, kinds } = tapsFor(matte, width, height);
    const { functions } = matte;
    const places = matte.width;
    for (let y = 0; y < height; y += 1) {
        const top = down.indices[y] * places * 4;
        const bottom = Math.min(down.indices[y] + 1, matte.height - 1) * places * 4;
        const fraction = down.fractions[y];
        for (let at = 0; at < places * 4; at += 1) row[at] = functions[top + at] + (functions[bottom + at] - functions[top + at]) * fraction;
        row.copyWithin(places * 4, places * 4 - 4, places * 4);
        for (let place = 0, at = 0; place < places; place += 1, at += 4) {
            const isConstant = row[at] === 0 && row[at + 1] === 0 && row[at + 2] === 0;
            const level = row[at + 3] * slope + offset;
            kinds[place] = !isConstant ? MIXED : level <= 0 ? TRANSPARENT : level >= 1 ? OPAQUE : MIXED;
        }
        const start = y * width;
        let first = 0;
        let kind = -1;
        for (let x = 0; x < width; x += 1) {
            const place = across.indices[x];
            const other = Math.min(place + 1, places - 1);
            const here = kinds[place] === kinds[other] ? kinds[place] : MIXED;
            if (here !== kind) {
                if (kind === TRANSPARENT || kind === OPAQUE) run(start + first, start + x, kind === OPAQUE);
                kind = here;
                first = x;
            }
            if (here !== MIXED) continue;
            const at = place * 4;
            const between = across.fractions[x];
            const pixel = (start + x) * 4;
            const red = (row[at] + (row[at + 4] - row[at]) * between) * pixels[pixel];
            const green = (row[at + 1] + (row[at + 5] - row[at + 1]) * between) * pixels[pixel + 1];
            const blue = (row[at + 2] + (row[at + 6] - row[at + 2]) * between) * pixels[pixel + 2];
            const added = (row[at + 3] + (row[at + 7] - row[at + 3]) * between) * 255;
            const level = ((red + green + (blue + added)) / 255) * slope + offset;
            edge(start + x, level <= 0 ? 0 : level >= 1 ? 255 : Math.floor(level * 255 + 0.5), x, y);
        }
        if (kind === TRANSPARENT || kind === OPAQUE) run(start + first, start + width, kind === OPAQUE);
    }
}

/** The opacity of each pixel, 0 to 255. */
export function opacities(pixels, width, height, matte, ramp) {
    const result = new Uint8Array(width * height);
    forEachPart(
        pixels, width, height, matte, ramp,
        (index, alpha) => (result[index] = alpha),
        (start, end, isOpaque) => result.fill(isOpaque ? 255 : 0, start, end),
    );
    return result;
}

/**
 * The subject on nothing: its own colours where it mixes with what is behind it, and its opacity.
 * @param {Uint8ClampedArray} target four bytes a pixel
 */
export function drawSubject(pixels, width, height, matte, ramp, target) {
    const words = new Uint32Array(target.buffer);
    const source = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height);
    const { colorX, colorY } = tapsFor(matte, width, height);
    const { subject, background, width: columns, height: rows } = matte.colors;
    const edge = (index, alpha, x, y) => {
        if (alpha === 0 || alpha === 255) {
            words[index] = alpha === 0 ? 0 : source[index];
            return;
        }
        const at = index * 4;
        const top = colorY.indices[y] * columns;
        const bottom = Math.min(colorY.indices[y] + 1, rows - 1) * columns;
        const left = colorX.indices[x];
        const right = Math.min(left + 1, columns - 1);
        const across = colorX.fractions[x];
        const down = colorY.fractions[y];
        const opacity = alpha / 255;
        for (let channel = 0; channel < 3; channel += 1) {
            const a = (top + left) * 4 + channel;
            const b = (top + right) * 4 + channel;
            const c = (bottom + left) * 4 + channel;
            const d = (bottom + right) * 4 + channel;
            const near = subject[a] + (subject[b] - subject[a]) * across;
            const guess = near + (subject[c] + (subject[d] - subject[c]) * across - near) * down;
            const far = background[a] + (background[b] - background[a]) * across;
            const behind = far + (background[c] + (background[d] - background[c]) * across - far) * down;
            const color = pixels[at + channel];
            const rest = color - opacity * guess - (1 - opacity) * behind;
            // Within what leaves a possible colour for the background.
            const lowest = Math.max(0, (color - 255 * (1 - opacity)) / opacity);
            const highest = Math.min(255, color / opacity);
            target[at + channel] = Math.min(Math.max(guess + opacity * rest, lowest), highest);
        }
        target[at + 3] = alpha;
    };
    forEachPart(pixels, width, height, matte, ramp, edge, (start, end, isOpaque) => {
        if (isOpaque) words.set(source.subarray(start, end), start);
        else words.fill(0, start, end);
    });
}
