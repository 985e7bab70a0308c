// Puts together what the server says of a frame, and hands over each frame with its own masks, never an older one after a newer.

import { decodeJSON, decodeMask, ProtocolError } from "./protocol.js";

export class Answers {
    /** Called with {sequence, frame, masks: {categories?, alpha?}, result}; the frame's bitmap then belongs to the callee. */
    onAnswer = () => {};
    /** Called with a frame of ours that the server left out. */
    onDropped = () => {};
    /** Called when there is room for another frame. */
    onRoom = () => {};
    #connection;
    #flight;
    #newest = 0;

    constructor(connection, flight) {
        this.#connection = connection;
        this.#flight = flight;
        connection.addEventListener("message", ({ message }) => this.#receive(message));
        connection.addEventListener("problem", ({ sequence }) => this.#give(sequence));
    }

    /** A new connection counts from the start. */
    restart() {
        this.#newest = 0;
        this.#flight.clear(release);
    }

    #receive(message) {
        const { kind, sequence } = message;
        if (kind === "picture") this.#takePicture(message);
        else if (kind === "categories" || kind === "alpha") this.#takeMask(message);
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
        this.onRoom();
        try {
            const names = Object.keys(frame.masks);
            const masks = await Promise.all(Object.values(frame.masks));
            frame.bitmap = await frame.bitmap;
            if (sequence <= this.#newest) {
                release(frame);
                return;
            }
            this.#newest = sequence;
            frame.masks = Object.fromEntries(names.map((name, index) => [name, masks[index]]));
            this.onAnswer({ sequence, frame, masks: frame.masks, result, roundTrip: answeredAt - frame.sentAt });
        } catch (error) {
            release(frame);
            if (error instanceof ProtocolError) this.#connection.drop(1002);
        }
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
