// Draws frame, mask and background with a 2D canvas: for machines without a graphics processor, where WebGL2 takes ten times
// as long, and for browsers without it.

import { enlarge } from "./enlarge.js";
import { drawSubject, rampBetween } from "./matte.js";
import { outlined, OUTSIDE, smoothed } from "./outline.js";

const LARGEST_BLUR = 24; // pixels of a picture that is 640 wide
const SMALLER = 4; // what is blurred is a copy so many times smaller

export class CanvasCompositor {
    kind = "2D canvas";
    isSlow = true;
    #context;
    #frame = null;
    #matte = null;
    #categories = null;
    #mask = createLayer();
    #coarse = createLayer();
    #image = null;
    #background = createLayer();
    #small = createLayer();
    #tiny = createLayer();

    constructor(canvas) {
        this.canvas = canvas;
        this.#context = canvas.getContext("2d");
    }

    setFrame(bitmap) {
        this.#frame?.close();
        this.#frame = bitmap;
    }

    /** @param {object} matte what matte.js has found for the frame, with the frame's pixels */
    setMatte(matte) {
        this.#matte = matte;
    }

    setCategories(mask, width, height) {
        this.#categories = smoothed({ bytes: mask, width, height });
    }

    render(look) {
        const frame = this.#frame;
        if (!frame) return;
        const { width, height } = frame;
        if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
        const context = this.#context;
        context.save();
        context.clearRect(0, 0, width, height);
        if (look.mode === "overlay") {
            this.#drawFrame(look);
            if (this.#categories) this.#drawMask(this.#paintClasses(look), look);
        } else {
            this.#drawSubject(look);
            context.globalCompositeOperation = "destination-over";
            this.#drawBackground(look);
        }
        context.restore();
        if (look.split > 0) this.#drawOriginal(look);
    }

    readPixel(x, y) {
        return [...this.#context.getImageData(x, y, 1, 1).data];
    }

    /** The subject alone, on nothing. */
    #drawSubject(look) {
        const matte = this.#matte;
        const { width, height } = this.canvas;
        if (matte?.pixels.length !== width * height * 4) return this.#drawFrame(look);
        const ramp = rampBetween(look.edge);
        const layer = this.#paint((image) => drawSubject(matte.pixels, width, height, matte, ramp, image.data));
        this.#drawMask(layer, look);
    }

    #drawBackground(look) {
        const context = this.#context;
        const { width, height } = this.canvas;
        if (look.mode === "color" || look.mode === "gradient") {
            const gradient = context.createLinearGradient(0, 0, 0, height);
            gradient.addColorStop(0, look.top);
            gradient.addColorStop(1, look.bottom);
            context.fillStyle = gradient;
            context.fillRect(0, 0, width, height);
        } else if (look.mode === "picture") {
            const { backdrop } = look;
            const scale = Math.max(width / backdrop.width, height / backdrop.height);
            const size = [backdrop.width * scale, backdrop.height * scale];
            context.drawImage(backdrop, (width - size[0]) / 2, (height - size[1]) / 2, ...size);
        } else if (look.mode === "blur") {
            const pixels = Math.max(1, (LARGEST_BLUR * look.blur * width) / 640);
            this.#drawBlurred(look, pixels);
        } else if (look.mode === "grey") {
            if ("filter" in context) context.filter = "grayscale(1)";
            this.#drawFrame(look);
            context.filter = "none";
        }
    }

    /**
     * The background without the subject, blurred, on a small canvas since nobody sees how large it was. Wider and wider
     * blurs lie below one another, so that the hole that the subject leaves closes with what is around it.
     */
    #drawBlurred(look, pixels) {
        const { width, height } = this.canvas;
        const size = [Math.ceil(width / SMALLER), Math.ceil(height / SMALLER)];
        const background = this.#background;
        const small = this.#small;
        for (const { canvas } of [background, small]) Object.assign(canvas, { width: size[0], height: size[1] });
        background.drawImage(this.#frame, 0, 0, ...size);
        if (this.#matte) {
            background.globalCompositeOperation = "destination-out";
            background.drawImage(this.#paintCoarse(), 0, 0, ...size);
        }
        small.globalCompositeOperation = "destination-over";
        for (const times of [1, 2, 4, 8]) {
            if ("filter" in small) {
                small.filter = `blur(${(pixels * times) / SMALLER}px)`;
                small.drawImage(background.canvas, 0, 0);
            } else {
                this.#shrinkAndEnlarge(background.canvas, size, (pixels * times) / SMALLER);
            }
        }
        if ("filter" in small) small.filter = "none";
        small.drawImage(this.#frame, 0, 0, ...size);
        this.#turn(look, () => {
            this.#context.imageSmoothingQuality = "high";
            this.#context.drawImage(small.canvas, 0, 0, width, height);
        });
    }

    /** A blur for browsers whose canvas has no filters: made tiny and large again. */
    #shrinkAndEnlarge(picture, [width, height], pixels) {
        const tiny = this.#tiny;
        const scale = Math.max(1, pixels * 2);
        Object.assign(tiny.canvas, { width: Math.max(2, width / scale), height: Math.max(2, height / scale) });
        tiny.imageSmoothingQuality = "high";
        tiny.drawImage(picture, 0, 0, tiny.canvas.width, tiny.canvas.height);
        this.#small.drawImage(tiny.canvas, 0, 0, width, height);
    }

    #drawOriginal(look) {
        const context = this.#context;
        context.save();
        context.beginPath();
        context.rect(0, 0, this.canvas.width * look.split, this.canvas.height);
        context.clip();
        this.#drawFrame(look);
        context.restore();
    }

    #drawFrame(look) {
        this.#turn(look, () => this.#context.drawImage(this.#frame, 0, 0));
    }

    #drawMask(mask, look) {
        this.#turn(look, () => this.#context.drawImage(mask, 0, 0));
    }

    #turn(look, draw) {
        const context = this.#context;
        if (look.isMirrored) context.setTransform(-1, 0, 0, 1, this.canvas.width, 0);
        draw();
        context.setTransform(1, 0, 0, 1, 0, 0);
    }

    /** As opaque as a place is more than a little the subject: its pixels hold colours of both. */
    #paintCoarse() {
        const { confidences, width, height } = this.#matte;
        const image = new ImageData(width, height);
        const pixels = new Uint32Array(image.data.buffer);
        for (let index = 0; index < pixels.length; index += 1) pixels[index] = MORE_THAN_A_LITTLE[confidences[index]];
        Object.assign(this.#coarse.canvas, { width, height });
        this.#coarse.putImageData(image, 0, 0);
        return this.#coarse.canvas;
    }

    /** One class after the other in its colour, each with an outline of its own. */
    #paintClasses({ palette, opacity }) {
        const { bytes } = this.#categories;
        const present = new Uint8Array(256);
        for (let index = 0; index < bytes.length; index += 1) present[bytes[index]] = 1;
        return this.#paint((image, width, height) => {
            const pixels = new Uint32Array(image.data.buffer);
            pixels.fill(0);
            for (let index = 0; index < 256; index += 1) {
                const [red, green, blue, isShown] = palette.subarray(index * 4, index * 4 + 4);
                if (!present[index] || !isShown) continue;
                const levels = new Uint8Array(256);
                levels[index] = 255;
                const colors = outlinePixels([red / 255, green / 255, blue / 255], opacity);
                const under = colors.slice();
                colors.fill(0, 0, FIRST_INSIDE);
                under.fill(0, FIRST_INSIDE);
                enlarge(this.#categories, levels, colors, pixels, width, height, under);
            }
        });
    }

    #paint(fill) {
        const { width, height } = this.canvas;
        const { canvas } = this.#mask;
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
        if (this.#image?.width !== width || this.#image.height !== height) this.#image = new ImageData(width, height);
        fill(this.#image, width, height);
        this.#mask.putImageData(this.#image, 0, 0);
        return canvas;
    }
}

const createLayer = () => document.createElement("canvas").getContext("2d");

/** For each level a pixel of this colour (0xbbggrr), as opaque as a smooth step over `place` (0 to 1) makes it. */
function stepped(color, place) {
    return Uint32Array.from({ length: 256 }, (_, level) => {
        const t = Math.min(1, Math.max(0, place(level)));
        const alpha = Math.round(255 * t * t * (3 - 2 * t));
        return alpha ? ((alpha << 24) | color) >>> 0 : 0;
    });
}

const MORE_THAN_A_LITTLE = stepped(0xffffff, (level) => (level / 255 - 0.02) / (0.4 - 0.02));

const FIRST_INSIDE = Math.ceil(OUTSIDE * 255);

/** For each level of a class the pixel that outline.js gives it. */
function outlinePixels(color, opacity) {
    return Uint32Array.from({ length: 256 }, (_, level) => {
        const [red, green, blue, alpha] = outlined(level / 255, color, opacity);
        if (alpha < 1 / 510) return 0;
        const byte = (channel) => Math.min(255, Math.round((channel / alpha) * 255));
        return ((Math.round(alpha * 255) << 24) | (byte(blue) << 16) | (byte(green) << 8) | byte(red)) >>> 0;
    });
}
