// Makes of a frame and the server's confidences what the compositors draw, in a worker where there is one.

import { findMatte } from "./matte.js";

export class MatteMaker {
    /** Opacity over confidence, { slope, offset }: for the colours of edges. */
    ramp = { slope: 3, offset: -1 };
    /** `hello.matte` */
    constants = null;
    #worker = null;
    #waiting = [];
    #context = null;

    constructor() {
        if (typeof OffscreenCanvas === "undefined" || typeof Worker === "undefined") return;
        this.#worker = new Worker(new URL("./matte-worker.js", import.meta.url), { type: "module" });
        this.#worker.onmessage = ({ data }) => {
            const { resolve, reject } = this.#waiting.shift();
            if (data.error) reject(new Error(data.error));
            else resolve(data);
        };
    }

    /** Frames that are being worked on. */
    get count() {
        return this.#waiting.length;
    }

    /**
     * @param {ImageBitmap} bitmap comes back as it was
     * @param {{bytes: Uint8Array, width: number, height: number, radius: number}} map
     * @returns {Promise<{bitmap: ImageBitmap, matte: object}>}
     */
    async make(bitmap, map) {
        const { ramp, constants } = this;
        if (this.#worker) {
            return new Promise((resolve, reject) => {
                this.#waiting.push({ resolve, reject });
                this.#worker.postMessage({ bitmap, map, ramp, constants }, [bitmap]);
            });
        }
        const { width, height } = bitmap;
        this.#context ??= document.createElement("canvas").getContext("2d", { alpha: false, willReadFrequently: true });
        Object.assign(this.#context.canvas, { width, height });
        this.#context.drawImage(bitmap, 0, 0);
        const pixels = this.#context.getImageData(0, 0, width, height).data;
        return { bitmap, matte: { ...findMatte(pixels, width, height, map, ramp, constants), pixels } };
    }
}
