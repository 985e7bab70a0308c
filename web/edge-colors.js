// The colours that subject and background have where they mix, as Sources/Effects/Drawing/EdgeColors.swift finds them.

import { boxMean } from "./guided-filter.js";

/** The size of the grids for pictures of a size. */
export function colorSize(width, height, side) {
    const scale = Math.min(1, side / Math.max(width, height));
    return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

const unit = (value) => Math.min(1, Math.max(0, value));

/**
 * What the subject's colour is taken to be, and what that behind it, at each place near an edge; elsewhere nobody asks.
 * @param {Uint8ClampedArray} small the picture's colours and the opacities of the subject, four bytes a place
 * @param {[number, number]} radii from afar and from near
 * @returns {{subject: Uint8ClampedArray, background: Uint8ClampedArray}} four bytes a place
 */
export function edgeColors(small, width, height, [farRadius, nearRadius]) {
    const length = width * height;
    const create = () => Array.from({ length: 4 }, () => new Float32Array(length));
    const front = create();
    const back = create();
    const alphas = new Float32Array(length);
    for (let index = 0; index < length; index += 1) alphas[index] = small[index * 4 + 3] / 255;
    front[3].set(alphas);
    for (let index = 0; index < length; index += 1) back[3][index] = 1 - alphas[index];
    for (let channel = 0; channel < 3; channel += 1) {
        const [one, other] = [front[channel], back[channel]];
        for (let index = 0, at = channel; index < length; index += 1, at += 4) {
            const color = small[at] / 255;
            one[index] = color * alphas[index];
            other[index] = color - one[index];
        }
    }
    const mean = (planes, radius) =>
        planes.map((plane) => {
            const result = new Float32Array(length);
            boxMean(plane, result, width, height, radius);
            return result;
        });
    const afar = mean(front, farRadius);
    const behind = mean(back, farRadius);
    for (let channel = 0; channel < 3; channel += 1) {
        const [near, farther, one, other] = [afar[channel], behind[channel], front[channel], back[channel]];
        const [share, rest] = [afar[3], behind[3]];
        for (let index = 0, at = channel; index < length; index += 1, at += 4) {
            const alpha = alphas[index];
            const own = near[index] / Math.max(share[index], 1e-5);
            const others = farther[index] / Math.max(rest[index], 1e-5);
            const left = small[at] / 255 - alpha * own - (1 - alpha) * others;
            one[index] = unit(own + alpha * left) * alpha;
            other[index] = unit(others + (1 - alpha) * left) * (1 - alpha);
        }
    }
    const isAsked = placesAtEdges(small, width, height);
    return {
        subject: filled(front, mean(front, nearRadius), isAsked, width, height, nearRadius),
        background: filled(back, mean(back, nearRadius), isAsked, width, height, nearRadius),
    };
}

/** Places that pixels between opaque and transparent may read: those, and their neighbours. */
export function placesAtEdges(small, width, height) {
    const marks = new Uint8Array(width * height);
    for (let y = 0; y < height; y += 1) {
        for (let x = 0; x < width; x += 1) {
            const alpha = small[(y * width + x) * 4 + 3];
            const isEdge =
                (alpha > 0 && alpha < 255) ||
                (x + 1 < width && small[(y * width + x) * 4 + 7] !== alpha) ||
                (y + 1 < height && small[((y + 1) * width + x) * 4 + 3] !== alpha);
            if (!isEdge) continue;
            for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row += 1) {
                marks.fill(1, row * width + Math.max(0, x - 1), row * width + Math.min(width, x + 2));
            }
        }
    }
    return marks;
}

/** Means from near; where there is nothing near, from farther and farther. */
function filled(planes, close, isAsked, width, height, near) {
    const result = new Uint8ClampedArray(width * height * 4);
    for (let index = 0, at = 0; index < isAsked.length; index += 1, at += 4) {
        if (!isAsked[index]) continue;
        let weight = close[3][index];
        let sums = [close[0][index], close[1][index], close[2][index]];
        for (let radius = near * 4; weight < 1e-3 && radius <= 64 * near; radius *= 4) {
            const wide = windowMean(planes, index % width, Math.floor(index / width), radius, width, height);
            if (wide[3] > 0) {
                sums = wide;
                weight = Math.max(wide[3], 1e-3);
            }
        }
        for (let channel = 0; channel < 3; channel += 1) result[at + channel] = (255 * sums[channel]) / Math.max(weight, 1e-5);
        result[at + 3] = 255;
    }
    return result;
}

function windowMean(planes, column, row, radius, width, height) {
    const sums = [0, 0, 0, 0];
    let count = 0;
    for (let y = Math.max(0, row - radius); y <= Math.min(height - 1, row + radius); y += 1) {
        for (let x = Math.max(0, column - radius); x <= Math.min(width - 1, column + radius); x += 1) {
            for (let channel = 0; channel < 4; channel += 1) sums[channel] += planes[channel][y * width + x];
            count += 1;
        }
    }
    return sums.map((sum) => sum / count);
}
