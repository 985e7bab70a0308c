// Draws frame, mask and background with WebGL2.

import { unitColor } from "./look.js";
import { rampBetween } from "./matte.js";
import { smoothed } from "./outline.js";
import { BLUR, COMPOSE, MODE_NUMBERS, SHRINK, VERTEX } from "./shaders.js";

/** The longer side of the small copy that is blurred. */
const BLUR_SIDE = 256;
const LARGEST_SIGMA = 11;

const NO_MATTE = {
    functions: new Float32Array(4),
    width: 1,
    height: 1,
    colors: { width: 1, height: 1, subject: new Uint8ClampedArray(4), background: new Uint8ClampedArray(4) },
};

export class WebGLCompositor {
    kind = "WebGL2";
    isSlow = false;
    #gl;
    #frameSize = { width: 0, height: 0 };
    #backdrop = null;
    #paletteKey = "";
    #blurKey = "";
    #mattes = 0; // how often it has changed
    #frames = 0;

    /** @returns null where there is no WebGL2 */
    static create(canvas) {
        const gl = canvas.getContext("webgl2", { antialias: false, depth: false, preserveDrawingBuffer: true });
        return gl ? new WebGLCompositor(canvas, gl) : null;
    }

    constructor(canvas, gl) {
        this.canvas = canvas;
        this.#gl = gl;
        this.#build();
        canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
        canvas.addEventListener("webglcontextrestored", () => this.#build());
    }

    setFrame(bitmap) {
        const gl = this.#gl;
        this.#frameSize = { width: bitmap.width, height: bitmap.height };
        this.#frames += 1;
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, this.textures.frame);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
        bitmap.close();
    }

    /** @param {object} matte what matte.js has found for the frame */
    setMatte({ functions, width, height, colors }) {
        const gl = this.#gl;
        this.#mattes += 1;
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, this.textures.functions);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, height, 0, gl.RGBA, gl.FLOAT, functions);
        for (const [name, grid] of [["subjectColors", colors.subject], ["backgroundColors", colors.background]]) {
            gl.bindTexture(gl.TEXTURE_2D, this.textures[name]);
            const bytes = new Uint8Array(grid.buffer, grid.byteOffset, grid.length);
            gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, colors.width, colors.height, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
        }
    }

    setCategories(mask, width, height) {
        const gl = this.#gl;
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, this.textures.categories);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8UI, width, height, 0, gl.RED_INTEGER, gl.UNSIGNED_BYTE, smoothed({ bytes: mask, width, height }).bytes);
    }

    render(look) {
        const gl = this.#gl;
        const { width, height } = this.#frameSize;
        if (!width || gl.isContextLost()) return;
        if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
        this.#updatePalette(look.palette);
        if (look.mode === "picture") this.#updateBackdrop(look.backdrop);
        if (look.mode === "blur") this.#blurBackground(look.blur);

        const { program, uniforms } = this.programs.compose;
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.viewport(0, 0, width, height);
        gl.useProgram(program);
        this.#bind(uniforms, ["frame", "functions", "subjectColors", "backgroundColors", "categories", "palette", "backdrop"]);
        this.#bindTo(uniforms.blurred, 7, this.targets[0].texture);
        gl.uniform2fv(uniforms.backdropScale, this.#backdropScale(width / height));
        gl.uniform1i(uniforms.mode, MODE_NUMBERS[look.mode]);
        gl.uniform1i(uniforms.isMirrored, look.isMirrored ? 1 : 0);
        gl.uniform1f(uniforms.split, look.split);
        gl.uniform1f(uniforms.opacity, look.opacity);
        const { slope, offset } = rampBetween(look.edge);
        gl.uniform2f(uniforms.ramp, slope, offset);
        gl.uniform3fv(uniforms.top, unitColor(look.top));
        gl.uniform3fv(uniforms.bottom, unitColor(look.bottom));
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }

    /** The colours of one pixel of what is drawn, from the top left. */
    readPixel(x, y) {
        const gl = this.#gl;
        const pixel = new Uint8Array(4);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.readPixels(x, this.canvas.height - 1 - y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        return [...pixel];
    }

    /** Fills the first target with the blurred background. */
    #blurBackground(strength) {
        const gl = this.#gl;
        const key = `${this.#frames} ${this.#mattes} ${strength}`;
        if (key === this.#blurKey) return;
        this.#blurKey = key;
        const { width, height } = this.#frameSize;
        const scale = Math.min(1, BLUR_SIDE / Math.max(width, height));
        const small = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
        for (const target of this.targets) this.#resize(target, ...small);
        gl.viewport(0, 0, ...small);

        const { shrink, blur } = this.programs;
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.targets[0].framebuffer);
        gl.useProgram(shrink.program);
        this.#bind(shrink.uniforms, ["frame", "functions"]);
        gl.uniform2f(shrink.uniforms.texel, 1 / small[0], 1 / small[1]);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);

        gl.useProgram(blur.program);
        gl.uniform1f(blur.uniforms.sigma, 1 + (LARGEST_SIGMA - 1) * strength);
        for (const [from, to, direction] of [[0, 1, [1 / small[0], 0]], [1, 0, [0, 1 / small[1]]]]) {
            gl.bindFramebuffer(gl.FRAMEBUFFER, this.targets[to].framebuffer);
            this.#bindTo(blur.uniforms.source, 0, this.targets[from].texture);
            gl.uniform2fv(blur.uniforms.direction, direction);
            gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
        }
    }

    #updatePalette(palette) {
        const key = palette.join();
        if (key === this.#paletteKey) return;
        this.#paletteKey = key;
        const gl = this.#gl;
        gl.bindTexture(gl.TEXTURE_2D, this.textures.palette);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, palette);
    }

    #updateBackdrop(backdrop) {
        if (backdrop === this.#backdrop) return;
        this.#backdrop = backdrop;
        const gl = this.#gl;
        gl.bindTexture(gl.TEXTURE_2D, this.textures.backdrop);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, backdrop);
    }

    /** The backdrop covers the picture and keeps its own proportions. */
    #backdropScale(aspect) {
        if (!this.#backdrop) return [1, 1];
        const own = this.#backdrop.width / this.#backdrop.height;
        return own > aspect ? [aspect / own, 1] : [1, own / aspect];
    }

    #bind(uniforms, names) {
        names.forEach((name, unit) => this.#bindTo(uniforms[name], unit, this.textures[name]));
    }

    #bindTo(uniform, unit, texture) {
        const gl = this.#gl;
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.uniform1i(uniform, unit);
    }

    #build() {
        const gl = this.#gl;
        // Half floats where they can be drawn to: the weights of the background become small numbers.
        this.hasFloats = Boolean(gl.getExtension("EXT_color_buffer_float") ?? gl.getExtension("EXT_color_buffer_half_float"));
        gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
        gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
        gl.bindVertexArray(gl.createVertexArray());
        this.programs = {
            shrink: link(gl, SHRINK),
            blur: link(gl, BLUR),
            compose: link(gl, COMPOSE),
        };
        this.textures = {
            frame: createTexture(gl, gl.LINEAR),
            functions: createTexture(gl, gl.NEAREST),
            subjectColors: createTexture(gl, gl.LINEAR),
            backgroundColors: createTexture(gl, gl.LINEAR),
            categories: createTexture(gl, gl.NEAREST),
            palette: createTexture(gl, gl.NEAREST),
            backdrop: createTexture(gl, gl.LINEAR),
        };
        this.targets = [0, 1].map(() => ({
            texture: createTexture(gl, gl.LINEAR),
            framebuffer: gl.createFramebuffer(),
            size: "",
        }));
        for (const target of this.targets) this.#resize(target, 1, 1);
        this.setMatte(NO_MATTE);
        this.setCategories(new Uint8Array(1), 1, 1);
        this.#paletteKey = "";
        this.#blurKey = "";
        this.#backdrop = null;
    }

    #resize(target, width, height) {
        const gl = this.#gl;
        if (target.size === `${width}x${height}`) return;
        target.size = `${width}x${height}`;
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, target.texture);
        const [format, type] = this.hasFloats ? [gl.RGBA16F, gl.HALF_FLOAT] : [gl.RGBA8, gl.UNSIGNED_BYTE];
        gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, gl.RGBA, type, null);
        gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target.texture, 0);
    }
}

function createTexture(gl, filter) {
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
}

/** A program and where its uniforms are. */
function link(gl, fragment) {
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
        const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
        throw new Error(`a shader does not compile: ${logs.join(" ")} ${gl.getProgramInfoLog(program)}`);
    }
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    const names = Array.from({ length: count }, (_, index) => gl.getActiveUniform(program, index).name);
    return { program, uniforms: Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)])) };
}
