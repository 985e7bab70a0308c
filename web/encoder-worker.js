// The thread of encoder.js: a bitmap comes in, the same bitmap and its bytes go out, in the order in which they came.

import { withoutAlpha } from "./encoder.js";

let canvas;
let context;
let last = Promise.resolve();

onmessage = ({ data }) => {
    last = last.then(() => encode(data)).catch((error) => postMessage({ error: error.message }));
};

async function encode({ bitmap, width, height, isBare, quality }) {
    if (!canvas) {
        canvas = new OffscreenCanvas(width, height);
        context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    }
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.drawImage(bitmap, 0, 0, width, height);
    if (isBare) {
        const bytes = withoutAlpha(context.getImageData(0, 0, width, height).data);
        postMessage({ bitmap, encoding: "rgb", bytes, width, height }, [bitmap, bytes.buffer]);
        return;
    }
    const blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    postMessage({ bitmap, encoding: "jpeg", bytes, width, height }, [bitmap, bytes.buffer]);
}
