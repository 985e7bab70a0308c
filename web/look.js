// What the compositors need to know of the settings, in their own terms.

const channels = (hex) => [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16));

/** Hex text of three numbers up to 255. */
export const hexColor = (rgb) => `#${rgb.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;

/**
 * Which classes of a model are shown and in which colours, unless the user has chosen otherwise: all of them, or only those
 * that the model's subjects are (a cut-out of somebody before a camera does not want the chair).
 */
export function classesOf(model, choices, onlySubjects) {
    const subjects = onlySubjects && model.subjectClasses?.length ? new Set(model.subjectClasses) : null;
    return model.labels.map((label, index) => {
        const choice = choices[label] ?? {};
        return {
            index,
            label,
            isBackground: index === 0,
            isShown: index > 0 && (choice.shown ?? (subjects ? subjects.has(index) : true)),
            isOwnColor: choice.color !== undefined,
            color: choice.color ?? hexColor(model.palette?.[index] ?? [128, 128, 128]),
        };
    });
}

/**
 * The confidences between which the edge of the subject runs: far apart is soft, close together is hard; higher ones
 * draw the outline further in.
 */
export function edgeRange({ edge, tightness }) {
    // In the middle of their ways the sliders give a film's edge: from a third to two thirds.
    const half = 1 / 60 + 0.5 * edge;
    const middle = 0.15 + 0.7 * tightness;
    return [Math.max(0.01, middle - half), Math.min(0.99, middle + half)];
}

/**
 * @param {object} values the settings
 * @param {ReturnType<typeof classesOf>} classes
 * @param {{isMirrored: boolean, backdrop: ImageBitmap | HTMLCanvasElement}} more
 */
export function lookOf(values, classes, { isMirrored, backdrop }) {
    const palette = new Uint8Array(256 * 4);
    for (const { index, color, isShown } of classes) palette.set([...channels(color), isShown ? 255 : 0], index * 4);
    const [top, bottom] =
        values.mode === "color" ? [values.color, values.color] : [values.gradientTop, values.gradientBottom];
    return {
        mode: values.mode,
        opacity: values.opacity,
        blur: values.blur,
        top,
        bottom,
        edge: edgeRange(values),
        split: values.compare ? values.comparePosition : -1,
        palette,
        isMirrored,
        backdrop,
    };
}

/** The same look without the compare slider, for what is saved. */
export const withoutSplit = (look) => ({ ...look, split: -1 });

/** Which mask a mode is drawn from. */
export const maskFor = (mode) => (mode === "overlay" ? "categories" : "matte");

/** Components from 0 to 1. */
export const unitColor = (hex) => channels(hex).map((channel) => channel / 255);
