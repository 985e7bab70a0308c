// Draws frame, mask and background with a 2D canvas, for browsers without WebGL2. Outlines are a little rougher.

const LARGEST_BLUR = 24; // pixels of a picture that is 640 wide

export class CanvasCompositor {
    kind = "2D canvas";
    isSoftware = true;
    #context;
    #frame = null;
    #alpha = null;
    #categories = null;
    #layer = createLayer();
    #small = createLayer();

    constructor(canvas) {
        this.canvas = canvas;
        this.#context = canvas.getContext("2d");
    }

    setFrame(bitmap) {
        this.#frame?.close();
        this.#frame = bitmap;
    }

    setAlpha(mask, width, height) {
        this.#alpha = { mask, width, height };
    }

    setCategories(mask, width, height) {
        this.#categories = { mask, width, height };
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
            if (this.#categories) this.#drawMask(paintClasses(this.#categories, look.palette), look, look.opacity);
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
        const context = this.#context;
        if (this.#alpha) {
            this.#drawMask(paintAlpha(this.#alpha, look.edge), look, 1);
            context.globalCompositeOperation = "source-in";
        }
        this.#drawFrame(look);
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

    /** The background without the subject, blurred: several times over itself, so that it closes the hole. */
    #drawBlurred(look, pixels) {
        const context = this.#context;
        const { width, height } = this.canvas;
        const layer = this.#layer;
        Object.assign(layer.canvas, { width: Math.ceil(width / 2), height: Math.ceil(height / 2) });
        const { width: w, height: h } = layer.canvas;
        layer.drawImage(this.#frame, 0, 0, w, h);
        if (this.#alpha) {
            layer.globalCompositeOperation = "destination-out";
            layer.drawImage(paintAlpha(this.#alpha, [0.02, 0.4]), 0, 0, w, h);
            layer.globalCompositeOperation = "source-over";
        }
        this.#turn(look, () => {
            if ("filter" in context) {
                for (const times of [1, 2, 4]) {
                    context.filter = `blur(${pixels * times}px)`;
                    context.drawImage(layer.canvas, 0, 0, width, height);
                }
                context.filter = "none";
            } else {
                this.#shrinkAndEnlarge(layer.canvas, pixels);
            }
            context.drawImage(this.#frame, 0, 0, width, height);
        });
    }

    /** A blur for browsers whose canvas has no filters: made small and large again. */
    #shrinkAndEnlarge(picture, pixels) {
        const { width, height } = this.canvas;
        const small = this.#small;
        Object.assign(small.canvas, { width: Math.max(2, width / pixels / 2), height: Math.max(2, height / pixels / 2) });
        small.imageSmoothingQuality = "high";
        small.drawImage(picture, 0, 0, small.canvas.width, small.canvas.height);
        for (let time = 0; time < 3; time += 1) this.#context.drawImage(small.canvas, 0, 0, width, height);
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

    #drawMask(mask, look, opacity) {
        this.#turn(look, () => {
            this.#context.globalAlpha = opacity;
            this.#context.imageSmoothingQuality = "high";
            this.#context.drawImage(mask, 0, 0, this.canvas.width, this.canvas.height);
            this.#context.globalAlpha = 1;
        });
    }

    #turn(look, draw) {
        const context = this.#context;
        if (look.isMirrored) context.setTransform(-1, 0, 0, 1, this.canvas.width, 0);
        draw();
        context.setTransform(1, 0, 0, 1, 0, 0);
    }
}

const createLayer = () => document.createElement("canvas").getContext("2d");
const maskLayer = createLayer();

function paint({ mask, width, height }, colorOf) {
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const colors = Uint32Array.from({ length: 256 }, (_, value) => colorOf(value));
    for (let index = 0; index < mask.length; index += 1) pixels[index] = colors[mask[index]];
    Object.assign(maskLayer.canvas, { width, height });
    maskLayer.putImageData(image, 0, 0);
    return maskLayer.canvas;
}

/** White, as opaque as the mask says. */
function paintAlpha(alpha, [low, high]) {
    return paint(alpha, (value) => {
        const t = Math.min(1, Math.max(0, (value / 255 - low) / (high - low)));
        return ((Math.round(255 * t * t * (3 - 2 * t)) << 24) | 0xffffff) >>> 0;
    });
}

function paintClasses(categories, palette) {
    const colors = new Uint32Array(palette.buffer);
    return paint(categories, (value) => colors[value]);
}
