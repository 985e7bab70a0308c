// For tests in a browser, only at /?test=1: window.silhouetteTest tells what was sent and what came back.

import { createCompositor } from "./compositor.js";

const KEPT = 60;

/**
 * A red square, the subject, on blue, blurred as strongly as can be: the most red in the background, the least in the
 * subject. What is nearer to the outline than the mask can tell is left out.
 */
async function redsOfBlurredBlue() {
    const [width, height, margin] = [320, 240, 4];
    const isInside = (x, y, more) => x >= 100 - more && x < 220 + more && y >= 60 - more && y < 180 + more;
    const frame = new ImageData(width, height);
    const functions = new Float32Array(width * height * 4);
    const each = (visit) => {
        for (let index = 0; index < width * height; index += 1) visit(index, index % width, Math.floor(index / width));
    };
    each((index, x, y) => {
        frame.data.set(isInside(x, y, 0) ? [255, 0, 0, 255] : [0, 0, 255, 255], index * 4);
        functions[index * 4 + 3] = isInside(x, y, 0) ? 1 : 0;
    });
    const compositor = createCompositor(document.createElement("canvas"), "webgl");
    compositor.setFrame(await createImageBitmap(frame));
    const nothing = new Uint8ClampedArray(4);
    compositor.setMatte({ functions, width, height, colors: { width: 1, height: 1, subject: nothing, background: nothing } });
    const colors = { top: "#000000", bottom: "#000000", palette: new Uint8Array(1024) };
    compositor.render({ mode: "blur", blur: 1, opacity: 1, edge: [0.45, 0.55], split: -1, isMirrored: false, ...colors });
    const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
    context.drawImage(compositor.canvas, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const reds = { background: 0, subject: 255 };
    each((index, x, y) => {
        const red = data[index * 4];
        if (!isInside(x, y, margin)) reds.background = Math.max(reds.background, red);
        if (isInside(x, y, -margin)) reds.subject = Math.min(reds.subject, red);
    });
    return reds;
}

/** Pictures that a test shows one after the other. */
class StepSource {
    kind = "steps";
    isStill = false;
    canMirror = false;
    onFrame = () => {};
    #bitmap = null;

    show(bitmap) {
        this.#bitmap?.close();
        this.#bitmap = bitmap;
        this.onFrame();
    }

    grab() {
        return createImageBitmap(this.#bitmap);
    }

    pause() {}

    resume() {}

    stop() {
        this.#bitmap?.close();
    }
}

export function installTestHook({ pump, answers, sources, maker, classes, compositor, connection, settings, statistics, flight, shown }) {
    const sent = new Map();
    const answered = new Map();
    const keep = (map, key, value) => {
        map.set(key, value);
        if (map.size > KEPT) map.delete(map.keys().next().value);
    };
    const inner = { onSent: pump.onSent, onAnswer: answers.onAnswer };
    pump.onSent = (frame) => {
        keep(sent, frame.sequence, frame);
        inner.onSent(frame);
    };
    let fixed = null;
    // The server's confidences, by the frame that they became a matte of.
    const maps = new WeakMap();
    const make = maker.make.bind(maker);
    maker.make = async (bitmap, map) => {
        const made = await make(bitmap, fixed ? { ...fixed.masks.matte, radius: 1 } : map);
        maps.set(made.matte, map);
        return made;
    };
    answers.onAnswer = (answer) => {
        answer.map = maps.get(answer.masks.matte);
        if (fixed) {
            if (answer.masks.categories) answer.masks.categories = fixed.masks.categories;
            answer.result.shares = fixed.shares;
        }
        keep(answered, answer.sequence, answer);
        window.silhouetteTest.answerCount += 1;
        inner.onAnswer(answer);
    };
    const base64 = (bytes) => {
        let text = "";
        for (let start = 0; start < bytes.length; start += 8192) {
            text += String.fromCharCode(...bytes.subarray(start, start + 8192));
        }
        return btoa(text);
    };
    const maskOf = (mask) => mask && { width: mask.width, height: mask.height, bytes: base64(mask.bytes) };

    window.silhouetteTest = {
        answerCount: 0,
        settings,
        statistics,
        connection,
        flight,
        compositor: compositor.kind,
        redsOfBlurredBlue,
        /** From now on the left half of every picture is class 1 and the right half nothing, whatever the server says. */
        fixMasks() {
            const side = 64;
            const mask = (value) => ({
                bytes: Uint8Array.from({ length: side * side }, (_, index) => (index % side < side / 2 ? value : 0)),
                width: side,
                height: side,
            });
            fixed = { masks: { matte: mask(255), categories: mask(1) }, shares: [[0, 0.5], [1, 0.5]] };
        },
        /** The newest frame that was answered: the very bytes sent, and the masks that came back. */
        newest() {
            const [sequence] = [...answered.keys()].slice(-1);
            return sequence === undefined ? null : this.frame(sequence);
        },
        frame(sequence) {
            const frame = sent.get(sequence);
            const answer = answered.get(sequence);
            return {
                sequence,
                sent: frame && { bytes: base64(frame.payload), encoding: frame.encoding, width: frame.width, height: frame.height },
                categories: maskOf(answer?.masks.categories),
                matte: maskOf(answer?.map),
                result: answer?.result,
                roundTrip: answer?.roundTrip,
            };
        },
        /**
         * A picture, in base64, as the next frame of a source of its own: frame by frame, none is left out.
         * @returns the sequence of the frame once it is drawn
         */
        async step(text) {
            const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
            const bitmap = await createImageBitmap(new Blob([bytes]), { colorSpaceConversion: "none" });
            if (sources.source?.kind !== "steps") sources.use(new StepSource());
            const before = window.silhouetteTest.answerCount;
            sources.source.show(bitmap);
            while (window.silhouetteTest.answerCount === before) await new Promise((done) => setTimeout(done, 5));
            return shown().sequence;
        },
        /** What is drawn, as a PNG file in base64. */
        async drawn() {
            const blob = await new Promise((done) => compositor.canvas.toBlob(done));
            return base64(new Uint8Array(await blob.arrayBuffer()));
        },
        /** Bytes of the masks that came for what is shown. */
        receivedBytes: () => shown()?.frame.receivedBytes ?? 0,
        classes,
        labels: () => connection.hello.models[0].labels,
        shownKind: () => shown()?.frame.source?.kind,
        shownSequence: () => shown()?.sequence ?? 0,
        /** Red, green, blue and alpha of the drawn picture; x and y from 0 to 1 from the top left. */
        pixel(x, y) {
            const { width, height } = compositor.canvas;
            return compositor.readPixel(Math.min(width - 1, Math.floor(x * width)), Math.min(height - 1, Math.floor(y * height)));
        },
    };
}
