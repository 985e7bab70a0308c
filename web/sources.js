// Where pictures come from. All sources look alike:
//
//   kind        "camera", "video", "picture" or "photo" (a picture that the shutter took)
//   isStill     its picture never changes
//   canMirror   shown as in a mirror where the user likes that
//   grab()      the picture of this moment, a new ImageBitmap for the caller to close
//   onFrame     called whenever there is a new picture
//   pause(), resume(), stop()

/** Larger pictures are made smaller on arrival: nobody sees the difference, and graphics memory is finite. */
const LONGEST_SIDE_OF_PICTURES = 2048;

/** A video element's frames, one call for each new one. */
class VideoFrames {
    onFrame = () => {};
    isStill = false;
    #stopped = false;

    constructor(video) {
        this.video = video;
        this.#listen();
    }

    grab() {
        return createImageBitmap(this.video);
    }

    pause() {
        this.video.pause();
    }

    resume() {
        this.video.play().catch(() => {});
    }

    stop() {
        this.#stopped = true;
        this.onFrame = () => {};
        this.video.pause();
        this.video.srcObject = null;
        this.video.removeAttribute("src");
        this.video.load();
    }

    #listen() {
        const { video } = this;
        const hasCallback = "requestVideoFrameCallback" in video;
        let lastTime = -1;
        const next = () => (hasCallback ? video.requestVideoFrameCallback(step) : requestAnimationFrame(step));
        const step = () => {
            if (this.#stopped) return;
            // Without the callback every repaint comes here: only a new time is a new frame.
            const isNew = hasCallback || video.currentTime !== lastTime;
            lastTime = video.currentTime;
            if (isNew && video.videoWidth > 0) this.onFrame();
            next();
        };
        next();
    }
}

function createVideoElement() {
    const video = document.createElement("video");
    Object.assign(video, { muted: true, playsInline: true, loop: true });
    return video;
}

export class CameraSource extends VideoFrames {
    kind = "camera";
    canMirror = true;

    constructor(video, stream) {
        super(video);
        this.stream = stream;
        const [track] = stream.getVideoTracks();
        this.deviceId = track.getSettings().deviceId ?? "";
        /** Called when the camera is unplugged or taken away. */
        this.onEnd = () => {};
        track.addEventListener("ended", () => this.onEnd());
    }

    /**
     * Asks for a camera; the browser may ask the user.
     * @throws {DOMException} by name, see messages.js
     */
    static async open(deviceId, height) {
        if (!navigator.mediaDevices?.getUserMedia) throw new DOMException("no secure context", "SecurityError");
        const size = { width: { ideal: Math.round((height * 16) / 9) }, height: { ideal: height }, frameRate: { ideal: 30 } };
        const ask = (device) => navigator.mediaDevices.getUserMedia({ audio: false, video: { ...size, ...device } });
        let stream;
        try {
            stream = await ask(deviceId ? { deviceId: { exact: deviceId } } : { facingMode: "user" });
        } catch (error) {
            // The camera of last time is not there: any other will do.
            if (!deviceId || !["OverconstrainedError", "NotFoundError"].includes(error.name)) throw error;
            stream = await ask({ facingMode: "user" });
        }
        const video = createVideoElement();
        video.srcObject = stream;
        await video.play();
        return new CameraSource(video, stream);
    }

    stop() {
        super.stop();
        for (const track of this.stream.getTracks()) track.stop();
    }
}

export class VideoFileSource extends VideoFrames {
    kind = "video";
    canMirror = false;

    /** @throws {Error} where the browser cannot play it */
    static async open(file) {
        const video = createVideoElement();
        const url = URL.createObjectURL(file);
        video.src = url;
        try {
            await video.play();
            if (!video.videoWidth) throw new Error("no pictures in it");
        } catch (error) {
            URL.revokeObjectURL(url);
            throw error;
        }
        const source = new VideoFileSource(video);
        source.url = url;
        return source;
    }

    stop() {
        super.stop();
        URL.revokeObjectURL(this.url);
    }
}

let pictures = 0;

export class PictureSource {
    isStill = true;
    onFrame = () => {};
    /** Tells one picture from another. */
    key = `picture ${(pictures += 1)}`;
    #bitmap;
    #file;

    /** @param {{file: Blob, width: number, height: number}} more where it comes from and its full size, unless the bitmap is all */
    constructor(bitmap, { kind = "picture", canMirror = false, file = null, width = bitmap.width, height = bitmap.height } = {}) {
        this.#bitmap = bitmap;
        this.#file = file;
        this.width = width;
        this.height = height;
        this.kind = kind;
        this.canMirror = canMirror;
    }

    /** Decodes a picture file, turned as its orientation tag says and on white where it is transparent. */
    static async open(file) {
        const { bitmap, width, height } = await readPicture(file);
        return new PictureSource(bitmap, { file, width, height });
    }

    /** The picture as a file of its full size; what was opened as it was. */
    async file(isMirrored) {
        return this.#file ?? pngOf(this.#bitmap, isMirrored);
    }

    /** The same as the browser has read it, for who cannot read the file. */
    async decoded() {
        const picture = await createImageBitmap(this.#file, { imageOrientation: "from-image" });
        return pngOf(picture, false);
    }

    grab() {
        return createImageBitmap(this.#bitmap);
    }

    pause() {}

    resume() {}

    stop() {
        this.#bitmap.close();
    }
}

function pngOf(bitmap, isMirrored) {
    const { width, height } = bitmap;
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d");
    if (isMirrored) context.setTransform(-1, 0, 0, 1, width, 0);
    context.drawImage(bitmap, 0, 0);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

export const decodePicture = async (file) => (await readPicture(file)).bitmap;

/** A picture, made smaller where it is large, and its own size. */
async function readPicture(file) {
    const picture = await createImageBitmap(file, { imageOrientation: "from-image" });
    const { width, height } = picture;
    const scale = Math.min(1, LONGEST_SIDE_OF_PICTURES / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    const context = canvas.getContext("2d", { alpha: false });
    context.imageSmoothingQuality = "high";
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    return { bitmap: await createImageBitmap(canvas), width, height };
}
