// Still pictures: shown and saved as `POST /api/segment` gives them, at their full size.

import { $ } from "./page.js";

/** While a slider is moved nothing is asked for. */
const PAUSE_MILLISECONDS = 150;
/** The server has as many pictures as it takes. */
const BUSY_PAUSE_MILLISECONDS = 1000;
/** Part of the picture's longer side over which the softest edge fades. */
const LARGEST_FEATHER = 0.03;

/**
 * The parameters that give a still picture the look of the page, as the address of `/api/segment` has them. Null: no class is shown,
 * and nothing can be asked for.
 * @param {object} values the settings
 * @param {{index: number, label: string, isShown: boolean, color: string, isOwnColor: boolean}[]} classes
 * @param {{model: string, width: number, height: number}} more the model's id, and the picture's size
 */
export function requestFor(values, classes, { model, width, height }) {
    const shown = classes.filter(({ isShown }) => isShown);
    if (shown.length === 0) return null;
    const query = new URLSearchParams({ model, class: shown.map(({ index }) => index).join() });
    if (values.mode === "overlay") {
        query.set("output", "overlay");
        query.set("opacity", String(values.opacity));
        query.set("outline", String(outlineOf(width, height)));
        for (const { index, color, isOwnColor } of shown) if (isOwnColor) query.append("class-color", `${index}=${color}`);
        query.set("edges", "guided");
        return query;
    }
    const background = backgroundOf(values, Math.max(width, height));
    query.set("output", background ? "composite" : "cutout");
    if (background) query.set("background", background);
    // As look.js has it for moving pictures.
    const threshold = Math.min(0.95, Math.max(0.05, 0.15 + 0.7 * values.tightness));
    if (Math.abs(threshold - 0.5) > 1e-6) query.set("threshold", threshold.toFixed(3));
    const softer = (values.edge - 0.3) / 0.7;
    if (softer > 0) query.set("feather", Math.min(200, softer * LARGEST_FEATHER * Math.max(width, height)).toFixed(1));
    return query;
}

/** The width of the line around a class, in pixels. */
export const outlineOf = (width, height) => Math.min(50, Math.max(2, Math.round(Math.max(width, height) / 320)));

/** Null: none, or one that only the page has. */
function backgroundOf({ mode, blur, color, gradientTop, gradientBottom }, side) {
    switch (mode) {
        case "blur":
            return `blur:${Math.min(500, Math.max(0.5, (24 * blur * side) / 640)).toFixed(1)}`;
        case "color":
            return color;
        case "gradient":
            return `gradient:180:${gradientTop},${gradientBottom}`;
        case "grey":
            return "gray";
        default:
            return null;
    }
}

/** The result for a still picture, laid over the canvas. */
export class Still {
    /** Called when there is another result, or none. */
    onChange = () => {};
    /** What is shown, the very bytes that the server has sent; a background picture of the page's own is put behind them. */
    blob = null;
    #image = $("still");
    #key = "";
    #turn = 0;
    #timer = 0;

    /** Shows the canvas again. */
    clear() {
        this.#key = "";
        this.#turn += 1;
        clearTimeout(this.#timer);
        if (this.blob) this.#show(null);
    }

    /**
     * Asks for a result unless it is what is shown, or on its way.
     * @param {{file(isMirrored: boolean): Promise<Blob>, decoded(): Promise<Blob>, key: string}} picture
     * @param {URLSearchParams} query
     * @param {{isMirrored: boolean, backdrop: CanvasImageSource | null, backdropKey: string}} more the backdrop lies behind a cut-out
     */
    ask(picture, query, { isMirrored, backdrop, backdropKey }) {
        const key = [picture.key, query, isMirrored, backdrop ? backdropKey : ""].join();
        if (key === this.#key) return;
        const isNew = !this.#key.startsWith(`${picture.key},`);
        this.#key = key;
        this.#turn += 1;
        const turn = this.#turn;
        // What belongs to other settings is not shown as if it belonged to these.
        if (this.blob) this.#show(null);
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#fetch(turn, picture, query, isMirrored, backdrop), isNew ? 0 : PAUSE_MILLISECONDS);
    }

    async #fetch(turn, picture, query, isMirrored, backdrop) {
        try {
            let response = await post(query, await picture.file(isMirrored));
            // A file that the browser knows and the server does not.
            if (response.status === 415) response = await post(query, await picture.decoded());
            if (turn !== this.#turn) return;
            if (response.status === 503) {
                this.#timer = setTimeout(() => this.#fetch(turn, picture, query, isMirrored, backdrop), BUSY_PAUSE_MILLISECONDS);
                return;
            }
            if (!response.ok) return;
            const result = await response.blob();
            const blob = backdrop ? await over(result, backdrop) : result;
            if (turn === this.#turn) await this.#show(blob, turn);
        } catch {
            // The canvas goes on showing the small picture's result.
        }
    }

    async #show(blob, turn = this.#turn) {
        URL.revokeObjectURL(this.#image.src);
        if (blob) {
            this.#image.src = URL.createObjectURL(blob);
            await this.#image.decode();
            if (turn !== this.#turn) return;
        } else {
            this.#image.removeAttribute("src");
        }
        this.blob = blob;
        this.#image.hidden = !blob;
        $("picture").classList.toggle("has-still", Boolean(blob));
        this.onChange();
    }
}

function post(query, body) {
    return fetch(`/api/segment?${query}`, { method: "POST", body, headers: { Accept: "image/png" } });
}

/** A cut-out over a background that covers it. */
async function over(cutout, backdrop) {
    const picture = await createImageBitmap(cutout);
    const { width, height } = picture;
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d", { alpha: false });
    const scale = Math.max(width / backdrop.width, height / backdrop.height);
    const size = [backdrop.width * scale, backdrop.height * scale];
    context.imageSmoothingQuality = "high";
    context.drawImage(backdrop, (width - size[0]) / 2, (height - size[1]) / 2, ...size);
    context.drawImage(picture, 0, 0);
    picture.close();
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
