// The small part of a matte: linear functions of the picture's colour that explain a coarse map of confidences, as
// Sources/Effects/Mattes/GuidedFilter.swift finds them. Tests/Fixtures/matte/vectors.json holds the two together. The numbers come
// from the server (`hello.matte`).

/**
 * The mean of the values not farther than `radius` columns and rows away, of those inside.
 * @param {Float32Array} source one value for each place
 * @param {Float32Array} target may be the source of another call, not of this one
 */
export function boxMean(source, target, width, height, radius) {
    const sums = new Float64Array(width);
    for (let y = 0; y < Math.min(radius, height); y += 1) {
        for (let x = 0, at = y * width; x < width; x += 1, at += 1) sums[x] += source[at];
    }
    // Columns whose places are all inside.
    const first = Math.min(radius, width);
    const end = Math.max(first, width - radius);
    for (let y = 0; y < height; y += 1) {
        if (y + radius < height) for (let x = 0, at = (y + radius) * width; x < width; x += 1, at += 1) sums[x] += source[at];
        if (y > radius) for (let x = 0, at = (y - radius - 1) * width; x < width; x += 1, at += 1) sums[x] -= source[at];
        const rows = Math.min(y + radius, height - 1) - Math.max(y - radius, 0) + 1;
        const start = y * width;
        let sum = 0;
        for (let x = 0; x < first; x += 1) sum += sums[x];
        for (let x = 0; x < first; x += 1) {
            if (x + radius < width) sum += sums[x + radius];
            target[start + x] = sum / ((Math.min(x + radius, width - 1) + 1) * rows);
        }
        const whole = 1 / ((2 * radius + 1) * rows);
        for (let x = first; x < end; x += 1) {
            sum += sums[x + radius];
            if (x > radius) sum -= sums[x - radius - 1];
            target[start + x] = sum * whole;
        }
        for (let x = end; x < width; x += 1) {
            if (x > radius) sum -= sums[x - radius - 1];
            target[start + x] = sum / ((width - Math.max(x - radius, 0)) * rows);
        }
    }
}

/** Which places of a picture of `from` pixels each of `to` is made of, and their weights: a triangle, antialiased when shrinking. */
function tapsOf(from, to) {
    const scale = from / to;
    const support = Math.max(1, scale);
    const taps = { starts: new Int32Array(to), counts: new Int32Array(to), weights: new Float32Array(to * (2 * Math.ceil(support) + 2)) };
    taps.stride = taps.weights.length / to;
    for (let index = 0; index < to; index += 1) {
        const center = (index + 0.5) * scale;
        const start = Math.max(0, Math.floor(center - support + 0.5));
        const end = Math.min(from, Math.floor(center + support + 0.5));
        let total = 0;
        for (let place = start; place < end; place += 1) {
            const weight = Math.max(0, 1 - Math.abs((place - center + 0.5) / support));
            taps.weights[index * taps.stride + place - start] = weight;
            total += weight;
        }
        for (let tap = 0; tap < end - start; tap += 1) taps.weights[index * taps.stride + tap] /= total;
        taps.starts[index] = start;
        taps.counts[index] = end - start;
    }
    return taps;
}

/**
 * Pixels of four bytes at a smaller size, each byte for itself, as Sources/Imaging/Resize does it.
 * @param {Uint8ClampedArray} pixels
 * @param {boolean} isOpaque whether the fourth byte is 255 everywhere
 * @returns {Uint8ClampedArray}
 */
export function shrink(pixels, width, height, toWidth, toHeight, isOpaque = false) {
    if (width === toWidth && height === toHeight) return pixels;
    const across = tapsOf(width, toWidth);
    const down = tapsOf(height, toHeight);
    const { starts, counts, weights, stride } = across;
    const narrow = new Uint8ClampedArray(toWidth * height * 4);
    for (let y = 0, at = 0; y < height; y += 1) {
        const first = y * width * 4;
        for (let x = 0; x < toWidth; x += 1, at += 4) {
            let red = 0;
            let green = 0;
            let blue = 0;
            let alpha = 0;
            const end = x * stride + counts[x];
            for (let tap = x * stride, place = first + starts[x] * 4; tap < end; tap += 1, place += 4) {
                const weight = weights[tap];
                red += pixels[place] * weight;
                green += pixels[place + 1] * weight;
                blue += pixels[place + 2] * weight;
                if (!isOpaque) alpha += pixels[place + 3] * weight;
            }
            narrow[at] = red;
            narrow[at + 1] = green;
            narrow[at + 2] = blue;
            narrow[at + 3] = isOpaque ? 255 : alpha;
        }
    }
    const small = new Uint8ClampedArray(toWidth * toHeight * 4);
    const row = new Float32Array(toWidth * 4);
    for (let y = 0; y < toHeight; y += 1) {
        row.fill(0);
        for (let tap = 0; tap < down.counts[y]; tap += 1) {
            const weight = down.weights[y * down.stride + tap];
            for (let x = 0, from = (down.starts[y] + tap) * toWidth * 4; x < row.length; x += 1, from += 1) row[x] += narrow[from] * weight;
        }
        small.set(row, y * row.length);
    }
    return small;
}

/** The planes of the last call: megabytes of waste a frame would keep the collector busy. */
let planes = [];

function planesOf(count, length) {
    if (planes.length < count || planes[0].length !== length) planes = Array.from({ length: count }, () => new Float32Array(length));
    return planes;
}

/**
 * At each place the factors of red, green and blue (0 to 1), and what is added.
 * @param {Uint8Array} bytes confidences, 255 is 1
 * @param {Uint8ClampedArray} guide the picture at the same size, four bytes a pixel
 * @param {{epsilon: number, certainty: number}} constants
 * @returns {Float32Array} four numbers a place
 */
export function functionsFor(bytes, guide, width, height, radius, { epsilon, certainty }) {
    const length = width * height;
    const all = planesOf(18, length);
    const [r, g, b, p, rr, rg, rb, gg, gb, bb, rp, gp, bp] = all;
    const spare = all[13];
    for (let index = 0, at = 0; index < length; index += 1, at += 4) {
        const red = guide[at] / 255;
        const green = guide[at + 1] / 255;
        const blue = guide[at + 2] / 255;
        const value = bytes[index] / 255;
        r[index] = red;
        g[index] = green;
        b[index] = blue;
        p[index] = value;
        rr[index] = red * red;
        rg[index] = red * green;
        rb[index] = red * blue;
        gg[index] = green * green;
        gb[index] = green * blue;
        bb[index] = blue * blue;
        rp[index] = red * value;
        gp[index] = green * value;
        bp[index] = blue * value;
    }
    for (let plane = 0; plane < 13; plane += 1) {
        boxMean(all[plane], spare, width, height, radius);
        all[plane].set(spare);
    }
    const factors = all.slice(14, 18);
    const [fr, fg, fb, added] = factors;
    for (let index = 0; index < length; index += 1) {
        const red = r[index];
        const green = g[index];
        const blue = b[index];
        const value = p[index];
        const a = rr[index] - red * red + epsilon;
        const c = rg[index] - red * green;
        const d = rb[index] - red * blue;
        const e = gg[index] - green * green + epsilon;
        const f = gb[index] - green * blue;
        const h = bb[index] - blue * blue + epsilon;
        const u = rp[index] - red * value;
        const v = gp[index] - green * value;
        const w = bp[index] - blue * value;
        const i = e * h - f * f;
        const j = d * f - c * h;
        const k = c * f - e * d;
        const determinant = a * i + c * j + d * k;
        if (determinant > 0) {
            const l = a * h - d * d;
            const m = c * d - a * f;
            const n = a * e - c * c;
            fr[index] = (i * u + j * v + k * w) / determinant;
            fg[index] = (j * u + l * v + m * w) / determinant;
            fb[index] = (k * u + m * v + n * w) / determinant;
        } else {
            fr[index] = 0;
            fg[index] = 0;
            fb[index] = 0;
        }
        added[index] = value - fr[index] * red - fg[index] * green - fb[index] * blue;
    }
    const result = new Float32Array(length * 4);
    factors.forEach((plane, channel) => {
        boxMean(plane, spare, width, height, radius);
        for (let index = 0, at = channel; index < length; index += 1, at += 4) result[at] = spare[index];
    });
    // Where the confidences are sure, the picture may make them only surer.
    for (let index = 0, at = 0; index < length; index += 1, at += 4) {
        const value = bytes[index] / 255;
        if (value > certainty && value < 1 - certainty) continue;
        const filtered = (result[at] * guide[at] + result[at + 1] * guide[at + 1] + result[at + 2] * guide[at + 2]) / 255 + result[at + 3];
        if (value < 0.5 ? filtered > value : filtered < value) {
            result[at] = 0;
            result[at + 1] = 0;
            result[at + 2] = 0;
            result[at + 3] = value;
        }
    }
    return result;
}

/** What the functions make of the colours that they were found in: a confidence of 0 to 255 for each place. */
export function coarse(functions, guide) {
    const bytes = new Uint8ClampedArray(guide.length / 4);
    for (let index = 0, at = 0; index < bytes.length; index += 1, at += 4) {
        bytes[index] =
            functions[at] * guide[at] + functions[at + 1] * guide[at + 1] + functions[at + 2] * guide[at + 2] + functions[at + 3] * 255;
    }
    return bytes;
}
