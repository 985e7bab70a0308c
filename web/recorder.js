// Files for the user: the result as a PNG, and what the canvas shows as a video.

const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

export const canRecord = () => "MediaRecorder" in window && "captureStream" in HTMLCanvasElement.prototype;

export class Recorder {
    onEnd = () => {};
    onFailure = () => {};
    #recorder = null;
    #startedAt = 0;

    get isRecording() {
        return this.#recorder !== null;
    }

    get seconds() {
        return (performance.now() - this.#startedAt) / 1000;
    }

    start(canvas) {
        const type = TYPES.find((name) => MediaRecorder.isTypeSupported(name));
        const stream = canvas.captureStream();
        const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 6_000_000 });
        const parts = [];
        recorder.ondataavailable = ({ data }) => parts.push(data);
        recorder.onerror = () => this.onFailure();
        recorder.onstop = () => {
            for (const track of stream.getTracks()) track.stop();
            const isMP4 = recorder.mimeType.startsWith("video/mp4");
            download(new Blob(parts, { type: recorder.mimeType.split(";")[0] }), isMP4 ? "mp4" : "webm");
            this.#recorder = null;
            this.onEnd();
        };
        recorder.start(1000);
        this.#recorder = recorder;
        this.#startedAt = performance.now();
    }

    stop() {
        if (this.#recorder?.state === "recording") this.#recorder.stop();
    }
}

/** Saves a picture that is a file already. */
export const saveFile = (blob) => download(blob, blob.type === "image/jpeg" ? "jpg" : "png");

/** Saves what the canvas shows now. */
export async function savePNG(canvas) {
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob) download(blob, "png");
}

function download(blob, extension) {
    const time = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString();
    const name = `silhouette-${time.slice(0, 10)}-${time.slice(11, 19).replaceAll(":", "")}.${extension}`;
    const url = URL.createObjectURL(blob);
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
