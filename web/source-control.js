// Starts and stops the camera, the files and the photos of the shutter, and says what goes wrong with them.

import { badFile, cameraMessage, CAMERA_UNPLUGGED } from "./messages.js";
import { $, fillSelect, press } from "./page.js";
import { CameraSource, PictureSource, VideoFileSource } from "./sources.js";

export class SourceControl {
    source = null;
    /** Called with the new source, or null. */
    onSource = () => {};
    #settings;
    #notices;
    #cameraHeight;
    #camera = null; // it is only paused while a photo of the shutter is looked at
    #opening = 0;
    #isWaitingForCamera = false;

    constructor(settings, notices, cameraHeight) {
        this.#settings = settings;
        this.#notices = notices;
        this.#cameraHeight = cameraHeight;
        for (const id of ["camera", "start-camera"]) $(id).addEventListener("click", () => this.toggleCamera());
        $("shutter").addEventListener("click", () => this.#shoot());
        $("play").addEventListener("click", () => this.#playOrPause());
        $("camera-list").addEventListener("change", () => {
            settings.set("camera", $("camera-list").value);
            if (this.#camera) this.openCamera();
        });
        navigator.mediaDevices?.addEventListener("devicechange", () => this.#devicesChanged());
    }

    toggleCamera() {
        if (this.source?.kind === "camera") this.use(null);
        else this.openCamera();
    }

    async openCamera() {
        const opening = ++this.#opening;
        this.#stopCamera(); // some cameras open only once
        $("camera").setAttribute("aria-busy", "true");
        try {
            const camera = await CameraSource.open(this.#settings.values.camera, this.#cameraHeight);
            if (opening !== this.#opening) {
                camera.stop();
                return;
            }
            this.#camera = camera;
            camera.onEnd = () => this.#lostCamera();
            this.#notices.clear("camera");
            this.#settings.set("usedCamera", true);
            this.use(camera);
            await this.#listCameras();
        } catch (error) {
            if (opening !== this.#opening) return;
            this.use(null);
            this.#notices.show("camera", cameraMessage(error), {
                action: { label: "Try again", run: () => this.openCamera() },
            });
        } finally {
            if (opening === this.#opening) $("camera").removeAttribute("aria-busy");
        }
    }

    async openFile(file) {
        const opening = ++this.#opening;
        $("camera").removeAttribute("aria-busy");
        try {
            const isVideo = file.type.startsWith("video/") || /\.(mkv|mov|m4v|mp4|webm)$/i.test(file.name);
            const source = await (isVideo ? VideoFileSource : PictureSource).open(file);
            if (opening !== this.#opening) {
                source.stop();
                return;
            }
            for (const subject of ["file", "camera"]) this.#notices.clear(subject);
            this.use(source);
        } catch {
            if (opening === this.#opening) this.#notices.show("file", badFile(file.name || "The file"));
        }
    }

    /** Starts the camera without a click where it was used before and the browser needs not ask. */
    async openCameraIfAllowed() {
        if (!this.#settings.values.usedCamera) return;
        try {
            const { state } = await navigator.permissions.query({ name: "camera" });
            if (state === "granted" && !this.source) await this.openCamera();
        } catch {
            // This browser does not tell: the user clicks.
        }
    }

    /** Takes a photo, or goes back from it to the living picture. */
    async #shoot() {
        if (this.source?.kind === "photo") {
            this.#camera.resume();
            this.use(this.#camera);
            return;
        }
        const camera = this.#camera;
        if (this.source !== camera) return;
        const photo = new PictureSource(await camera.grab(), { kind: "photo", canMirror: true });
        if (this.source !== camera) return;
        camera.pause();
        this.use(photo);
    }

    #playOrPause() {
        const { source } = this;
        if (source?.kind !== "video") return;
        if (source.video.paused) source.resume();
        else source.pause();
        this.#showButtons();
    }

    /** Takes a source in the place of the last one. */
    use(source) {
        const last = this.source;
        if (last && last !== source && last !== this.#camera) last.stop();
        if (source?.kind !== "camera" && source?.kind !== "photo") this.#stopCamera();
        this.source = source;
        this.#showButtons();
        this.onSource(source);
    }

    #stopCamera() {
        const camera = this.#camera;
        this.#camera = null;
        camera?.stop();
    }

    #lostCamera() {
        this.use(null);
        this.#notices.show("camera", CAMERA_UNPLUGGED, { action: { label: "Try again", run: () => this.openCamera() } });
        this.#isWaitingForCamera = true;
    }

    async #devicesChanged() {
        const cameras = await this.#listCameras();
        if (!this.#isWaitingForCamera || this.source || cameras.length === 0) return;
        this.#isWaitingForCamera = false;
        this.openCamera();
    }

    async #listCameras() {
        const devices = await navigator.mediaDevices.enumerateDevices();
        const cameras = devices
            .filter(({ kind, deviceId }) => kind === "videoinput" && deviceId)
            .map(({ deviceId, label }, index) => ({ id: deviceId, name: label || `Camera ${index + 1}` }));
        const chosen = this.#camera?.deviceId || this.#settings.values.camera;
        if (cameras.length) fillSelect($("camera-list"), cameras, chosen);
        return cameras;
    }

    #showButtons() {
        const kind = this.source?.kind;
        press($("camera"), kind === "camera");
        $("shutter").hidden = kind === "video" || kind === "picture";
        $("shutter").disabled = kind !== "camera" && kind !== "photo";
        press($("shutter"), kind === "photo");
        $("shutter").querySelector("span").textContent = kind === "photo" ? "Live" : "Photo";
        $("play").hidden = kind !== "video";
        const isPaused = kind === "video" && this.source.video.paused;
        $("play-label").textContent = isPaused ? "Play" : "Pause";
        $("play-icon").setAttribute("href", isPaused ? "#icon-play" : "#icon-pause");
    }
}
