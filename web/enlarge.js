// Makes a mask as large as its frame, without a graphics processor. A cubic B-spline between the mask's pixels and a steep
// step after it draw round, sharp outlines, as the shader does.

const cache = new Map();

/** Used again and again: two megabytes of waste a frame would keep the collector busy. */
let scratch = new Float32Array(0);

/** For each of `to` pixels the first of the four of `from` that it is made of (one before the row at most), and their weights. */
function tapsOf(from, to) {
    const key = `${from} ${to}`;
    let taps = cache.get(key);
    if (taps) return taps;
    taps = { first: new Int32Array(to), weights: new Float32Array(to * 4) };
    for (let index = 0; index < to; index += 1) {
        const place = ((index + 0.5) * from) / to - 0.5;
        const whole = Math.floor(place);
        const f = place - whole;
        const g = 1 - f;
        taps.first[index] = whole - 1;
        taps.weights.set([(g * g * g) / 6, (4 - 6 * f * f + 3 * f * f * f) / 6, (4 - 6 * g * g + 3 * g * g * g) / 6, (f * f * f) / 6], index * 4);
    }
    if (cache.size > 8) cache.clear();
    cache.set(key, taps);
    return taps;
}

/**
 * @param {{bytes: Uint8Array, width: number, height: number}} mask
 * @param {Uint8Array} levels what each of the mask's 256 values counts
 * @param {Uint32Array} colors the pixel to write for each of the 256 levels in between; 0 writes nothing
 * @param {Uint32Array | null} under the same for pixels that nothing was written to yet
 * @param {Uint32Array} pixels width * height of them
 */
export function enlarge({ bytes, width: from, height: rows }, levels, colors, pixels, width, height, under = null) {
    const across = tapsOf(from, width);
    const down = tapsOf(rows, height);
    if (scratch.length < rows * width) scratch = new Float32Array(rows * width);
    const wide = scratch;
    const row = new Float32Array(from + 4); // two more on each side, like the outermost
    for (let y = 0; y < rows; y += 1) {
        for (let x = 0; x < from; x += 1) row[x + 2] = levels[bytes[y * from + x]];
        row[0] = row[1] = row[2];
        row[from + 2] = row[from + 3] = row[from + 1];
        for (let x = 0, tap = 0, end = y * width; x < width; x += 1, tap += 4, end += 1) {
            const at = across.first[x] + 2;
            const { weights } = across;
            wide[end] = row[at] * weights[tap] + row[at + 1] * weights[tap + 1] + row[at + 2] * weights[tap + 2] + row[at + 3] * weights[tap + 3];
        }
    }
    const offset = (y) => Math.min(rows - 1, Math.max(0, y)) * width;
    for (let y = 0; y < height; y += 1) {
        const first = down.first[y];
        const [a, b, c, d] = [offset(first), offset(first + 1), offset(first + 2), offset(first + 3)];
        const [u, v, w, z] = down.weights.subarray(y * 4, y * 4 + 4);
        for (let x = 0, end = y * width; x < width; x += 1, end += 1) {
            const level = wide[a + x] * u + wide[b + x] * v + wide[c + x] * w + wide[d + x] * z;
            const place = (level + 0.5) | 0;
            const color = colors[place];
            if (color) pixels[end] = color;
            else if (under && pixels[end] === 0) pixels[end] = under[place];
        }
    }
}
