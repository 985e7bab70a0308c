// How classes are shown over a picture: a fill, and a line along the outline, light inside and dark outside, so that one of the two
// shows on any colour beneath.
//
// Both compositors draw from one measure: how much of a place is of a class, 0 to 1, smooth over the mask's pixels; its outline is at
// a half.

/** Where each part begins, and where it is whole. */
export const STEPS = { dark: [0.04, 0.14], light: [0.38, 0.46], fill: [0.72, 0.82] };
/** Red, green, blue and opacity of the line, multiplied. */
export const DARK = [0, 0, 0, 0.55];
export const LIGHT = [0.92, 0.92, 0.92, 0.92];
/** Of a place that is less of a class than this only the dark line shows, and only where no other class is. */
export const OUTSIDE = 0.42;

const step = ([from, to], value) => {
    const t = Math.min(1, Math.max(0, (value - from) / (to - from)));
    return t * t * (3 - 2 * t);
};

/**
 * The colour of a place, multiplied by its opacity; 0 to 1.
 * @param {number} share how much of the place is of the class
 * @param {[number, number, number]} color the class's, 0 to 1
 */
export function outlined(share, color, opacity) {
    const fill = [...color.map((channel) => channel * opacity), opacity];
    const [dark, light, whole] = [STEPS.dark, STEPS.light, STEPS.fill].map((range) => step(range, share));
    return DARK.map((_, channel) => {
        const line = DARK[channel] * dark + (LIGHT[channel] - DARK[channel] * dark) * light;
        return line + (fill[channel] - line) * whole;
    });
}

/** Places around each one that vote: as far as half a cell of most networks' own scores. */
const REACH = 3;

/** A mask of classes without stairs and lonely pixels: at each place the class that most around it is of. */
export function smoothed({ bytes, width, height }) {
    const result = bytes.slice();
    const votes = new Uint16Array(256);
    for (let y = 0; y < height; y += 1) {
        const [top, bottom] = [Math.max(0, y - REACH), Math.min(height - 1, y + REACH)];
        for (let x = 0, at = y * width; x < width; x += 1, at += 1) {
            const [left, right] = [Math.max(0, x - REACH), Math.min(width - 1, x + REACH)];
            const own = bytes[at];
            // Where the corners of the window and the middles of its sides are alike, all of it is, but for what is lonely.
            const isPlain =
                bytes[y * width + left] === own && bytes[y * width + right] === own &&
                [top, bottom].every((row) => bytes[row * width + left] === own && bytes[row * width + right] === own && bytes[row * width + x] === own);
            if (isPlain) continue;
            votes.fill(0);
            let best = own;
            for (let row = top; row <= bottom; row += 1) {
                for (let column = left; column <= right; column += 1) {
                    const other = bytes[row * width + column];
                    votes[other] += (REACH + 1 - Math.abs(row - y)) * (REACH + 1 - Math.abs(column - x));
                    if (votes[other] > votes[best]) best = other;
                }
            }
            result[at] = best;
        }
    }
    return { bytes: result, width, height };
}
