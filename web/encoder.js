// Makes of frames what is sent: bare pixels where the server is on the same machine, else JPEG files. In a worker: on the page's own
// thread browsers encode only when they find nothing else to do.

const LONGEST_SIDE = 640;
/** With less, what the encoder adds flickers in the edges. */
const QUALITY = 0.92;

/** The size at which a frame is sent: the network is smaller than this anyway. */
export function sentSize(width, height) {
    const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height));
    return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/**
 * Whether frames may go as they are: then the network sees just what a film's network sees. Elsewhere a megabyte is too much.
 */
export const isOnThisMachine = (hostname) => ["localhost", "127.0.0.1", "[::1]"].includes(hostname);

/** Red, green and blue of pixels of four bytes. */
export function withoutAlpha(pixels) {
    const bytes = new Uint8Array((pixels.length / 4) * 3);
    for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) {
        bytes[to] = pixels[from];
        bytes[to + 1] = pixels[from + 1];
        bytes[to + 2] = pixels[from + 2];
    }
    return bytes;
}

/**
 * `encode(bitmap, isBare)` promises {bitmap, encoding, bytes, width, height}.
 * @returns {{encode(bitmap: ImageBitmap, isBare: boolean): Promise<object>}}
 */
export function createEncoder() {
    if (typeof OffscreenCanvas === "undefined" || !("convertToBlob" in OffscreenCanvas.prototype)) {
        return createPageEncoder();
    }
    const worker = new Worker(new URL("./encoder-worker.js", import.meta.url), { type: "module" });
    const waiting = [];
    worker.onmessage = ({ data }) => {
        const { resolve, reject } = waiting.shift();
        if (data.error) reject(new Error(data.error));
        else resolve(data);
    };
    return {
        encode(bitmap, isBare) {
            return new Promise((resolve, reject) => {
                waiting.push({ resolve, reject });
                worker.postMessage({ bitmap, ...sentSize(bitmap.width, bitmap.height), isBare, quality: QUALITY }, [bitmap]);
            });
        },
    };
}

function createPageEncoder() {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    return {
        async encode(bitmap, isBare) {
            const size = sentSize(bitmap.width, bitmap.height);
            Object.assign(canvas, size);
            context.drawImage(bitmap, 0, 0, size.width, size.height);
            if (isBare) {
                const { data } = context.getImageData(0, 0, size.width, size.height);
                return { bitmap, encoding: "rgb", bytes: withoutAlpha(data), ...size };
            }
            const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
            if (!blob) throw new Error("the browser made no JPEG");
            return { bitmap, encoding: "jpeg", bytes: new Uint8Array(await blob.arrayBuffer()), ...size };
        },
    };
}
