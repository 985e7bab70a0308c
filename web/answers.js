// Puts together what the server says of a frame, and hands over each frame with its own masks, never an older one after a newer.

import { decodeJSON, decodeMask, ProtocolError } from "./protocol.js";

/** The server's own pictures come whether they are drawn or not: more are left out. */
const MOST_MADE_AT_ONCE = 2;

export class Answers {
    /** Called with {sequence, frame, masks: {categories?, matte?}, result}; the frame's bitmap then belongs to the callee. */
    onAnswer = () => {};
    /** Called with a frame of ours that the server left out. */
    onDropped = () => {};
    /** Called when there is room for another frame. */
    onRoom = () => {};
    /** Makes of a frame and its matte message what is drawn; see matte-maker.js. */
    maker = null;
    #connection;
    #flight;
    #newest = 0;
    #epoch = 0;

    constructor(connection, flight) {
        this.#connection = connection;
        this.#flight = flight;
        connection.addEventListener("message", ({ message }) => this.#receive(message));
        connection.addEventListener("problem", ({ sequence }) => this.#give(sequence));
    }

    /** A new connection counts from the start. */
    restart() {
        this.#newest = 0;
        this.#epoch += 1;
        this.#flight.clear(release);
    }

    #receive(message) {
        const { kind, sequence } = message;
        if (kind === "picture") this.#takePicture(message);
        else if (kind === "categories" || kind === "matte") this.#takeMask(message);
        else if (kind === "result") this.#finish(sequence, decodeJSON(message));
        else if (kind === "dropped") {
            const frame = this.#flight.get(sequence);
            this.#give(sequence);
            this.onDropped(frame);
        }
    }

    /** The server's own picture: it replaces one whose result has not come. */
    #takePicture({ sequence, payload, encoding }) {
        this.#flight.clear(release);
        const bitmap = createImageBitmap(new Blob([payload], { type: `image/${encoding}` }));
        bitmap.catch(() => {}); // the result finds it
        this.#flight.add(sequence, { bitmap, sentAt: performance.now(), byteCount: payload.length, masks: {} });
    }

    #takeMask(message) {
        const frame = this.#flight.get(message.sequence);
        if (!frame) return;
        frame.receivedBytes = (frame.receivedBytes ?? 0) + message.payload.length;
        const mask = decodeMask(message).then((bytes) => ({ bytes, width: message.width, height: message.height }));
        mask.catch(() => {}); // the result finds it
        frame.masks[message.kind] = mask;
    }

    async #finish(sequence, result) {
        const frame = this.#flight.take(sequence);
        if (!frame) return;
        const answeredAt = performance.now();
        const epoch = this.#epoch;
        // While its matte is made a frame keeps its place in flight: a page that is slower than the server sends no more than it draws.
        const isMade = Boolean(frame.masks.matte && this.maker);
        if (isMade) this.#flight.held += 1;
        else this.onRoom();
        try {
            const names = Object.keys(frame.masks);
            const masks = await Promise.all(Object.values(frame.masks));
            frame.bitmap = await frame.bitmap;
            frame.masks = Object.fromEntries(names.map((name, index) => [name, masks[index]]));
            if (isMade && this.#flight.held > MOST_MADE_AT_ONCE) {
                release(frame);
                return;
            }
            if (isMade) await this.#makeMatte(frame, result);
            if (sequence <= this.#newest || epoch !== this.#epoch) {
                release(frame);
                return;
            }
            this.#newest = sequence;
            this.onAnswer({ sequence, frame, masks: frame.masks, result, roundTrip: answeredAt - frame.sentAt });
        } catch (error) {
            release(frame);
            if (error instanceof ProtocolError) this.#connection.drop(1002);
        } finally {
            if (isMade) {
                this.#flight.held -= 1;
                this.onRoom();
            }
        }
    }

    async #makeMatte(frame, { matteRadius }) {
        if (!Number.isInteger(matteRadius) || matteRadius < 1) throw new ProtocolError("malformed", "a matte without its radius");
        const made = await this.maker.make(frame.bitmap, { ...frame.masks.matte, radius: matteRadius });
        frame.bitmap = made.bitmap;
        frame.masks.matte = made.matte;
    }

    #give(sequence) {
        const frame = this.#flight.take(sequence);
        if (!frame) return;
        release(frame);
        this.onRoom();
    }
}

async function release(frame) {
    try {
        (await frame.bitmap).close();
    } catch {
        // It was never decoded.
    }
}
