// Makes JPEG files of frames, in a worker: on the page's own thread browsers encode only when they find nothing else to do.

const LONGEST_SIDE = 640;
const QUALITY = 0.8;

/** The size at which a frame is sent: the network is smaller than this anyway. */
export function sentSize(width, height) {
    const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height));
    return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** @returns {{encode(bitmap: ImageBitmap): Promise<{bitmap: ImageBitmap, bytes: Uint8Array, width: number, height: number}>}} */
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
        encode(bitmap) {
            return new Promise((resolve, reject) => {
                waiting.push({ resolve, reject });
                worker.postMessage({ bitmap, ...sentSize(bitmap.width, bitmap.height), quality: QUALITY }, [bitmap]);
            });
        },
    };
}

function createPageEncoder() {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d", { alpha: false });
    return {
        async encode(bitmap) {
            const size = sentSize(bitmap.width, bitmap.height);
            Object.assign(canvas, size);
            context.drawImage(bitmap, 0, 0, size.width, size.height);
            const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
            if (!blob) throw new Error("the browser made no JPEG");
            return { bitmap, bytes: new Uint8Array(await blob.arrayBuffer()), ...size };
        },
    };
}
