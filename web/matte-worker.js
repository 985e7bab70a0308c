// The thread of matte-maker.js: a bitmap and a map of confidences come in, the same bitmap and what its matte is drawn from go out, in
// the order in which they came.

import { findMatte } from "./matte.js";

let canvas;
let context;

onmessage = ({ data }) => {
    try {
        make(data);
    } catch (error) {
        postMessage({ error: error.message, bitmap: data.bitmap }, [data.bitmap]);
    }
};

function make({ bitmap, map, ramp, constants }) {
    const { width, height } = bitmap;
    if (!canvas) {
        canvas = new OffscreenCanvas(width, height);
        context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    }
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.drawImage(bitmap, 0, 0);
    const pixels = context.getImageData(0, 0, width, height).data;
    const matte = { ...findMatte(pixels, width, height, map, ramp, constants), pixels };
    const { functions, confidences, colors } = matte;
    const buffers = [functions, confidences, colors.subject, colors.background, pixels].map(({ buffer }) => buffer);
    postMessage({ bitmap, matte }, [bitmap, ...buffers]);
}
