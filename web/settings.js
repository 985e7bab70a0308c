// What the user has chosen. Kept in localStorage; anything there that does not fit is left out.

const KEY = "silhouette.settings.1";

export const MODES = ["cutout", "blur", "color", "gradient", "picture", "grey", "overlay"];

const isFraction = (value) => typeof value === "number" && value >= 0 && value <= 1;
const isColor = (value) => typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value);
const isSmoothing = (value) => typeof value === "number" && value >= 0 && value <= 0.9;
const isText = (value) => typeof value === "string" && value.length < 500;
const isFlag = (value) => typeof value === "boolean";

/** A class is remembered by its name, since another model may give it another index. */
const isClassChoices = (value) =>
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    Object.values(value).every(
        (choice) =>
            choice !== null &&
            typeof choice === "object" &&
            (choice.shown === undefined || isFlag(choice.shown)) &&
            (choice.color === undefined || isColor(choice.color)),
    );

// Each setting: its first value, and what a value must be.
const SETTINGS = {
    mode: ["cutout", (value) => MODES.includes(value)],
    opacity: [0.65, isFraction],
    blur: [0.5, isFraction],
    color: ["#3d7ea6", isColor],
    gradientTop: ["#f7d9c4", isColor],
    gradientBottom: ["#6d5dfc", isColor],
    tightness: [0.5, isFraction],
    edge: [0.3, isFraction],
    smoothing: [0.6, isSmoothing],
    closeHoles: [true, isFlag],
    compare: [false, isFlag],
    comparePosition: [0.5, isFraction],
    mirror: [true, isFlag],
    camera: ["", isText],
    usedCamera: [false, isFlag],
    model: ["", isText],
    device: ["", isText],
    classes: [{}, isClassChoices],
};

export class Settings extends EventTarget {
    #values;
    #storage;

    /** @param {Storage | undefined} storage none where the browser forbids it */
    constructor(storage) {
        super();
        this.#storage = storage;
        const saved = this.#read();
        this.#values = Object.fromEntries(
            Object.entries(SETTINGS).map(([name, [first, fits]]) => [
                name,
                Object.hasOwn(saved, name) && fits(saved[name]) ? saved[name] : first,
            ]),
        );
    }

    get values() {
        return this.#values;
    }

    /** Sets a value, keeps it, and tells whoever listens to "change". */
    set(name, value) {
        if (!SETTINGS[name][1](value)) throw new RangeError(`${name} cannot be ${JSON.stringify(value)}`);
        if (this.#values[name] === value) return;
        this.#values = { ...this.#values, [name]: value };
        try {
            this.#storage?.setItem(KEY, JSON.stringify(this.#values));
        } catch {
            // Full or forbidden: the choice holds until the page is closed.
        }
        this.dispatchEvent(Object.assign(new Event("change"), { setting: name }));
    }

    #read() {
        try {
            const saved = JSON.parse(this.#storage?.getItem(KEY) ?? "{}");
            return saved !== null && typeof saved === "object" ? saved : {};
        } catch {
            return {};
        }
    }
}

/** The browser's storage, or none where the user has forbidden it (which throws on mere access). */
export function browserStorage() {
    try {
        return window.localStorage;
    } catch {
        return undefined;
    }
}
