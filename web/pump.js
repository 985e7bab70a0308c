// Takes pictures from the source and sends them, never more than the server has asked for.

import { createEncoder, isOnThisMachine } from "./encoder.js";
import { encodeMessage } from "./protocol.js";

/** With more than this unsent, the network is the bottleneck and another frame would only be late. */
const MOST_UNSENT_BYTES = 512 * 1024;
/**
 * Of the last fifty pictures or so, with the newer ones counting more: when so many were skipped the machine does not keep up, or the
 * way to the server is a tunnel that only looks like one's own machine. Then JPEG files are less work.
 */
const MOST_STRAIN = 12;
const STRAIN_KEPT = 0.98;

export class Pump {
    /** Pictures that came while there was no room for them. */
    skipped = 0;
    onSent = () => {};
    #connection;
    #flight;
    #encoder = createEncoder();
    #source = null;
    #sequence = 0;
    #timestamp = 0n;
    #isBusy = false;
    #isWanted = false;
    #isPaused = false;
    #mayBeBare;
    #isBare;
    #strain = 0;
    #lastBytes = 0;
    #epoch = 0;

    /** @param {string | undefined} hostname the server's */
    constructor(connection, flight, hostname = globalThis.location?.hostname) {
        this.#connection = connection;
        this.#flight = flight;
        this.#mayBeBare = isOnThisMachine(hostname);
        this.#isBare = this.#mayBeBare;
    }

    /** The source whose pictures are sent, or null. */
    set source(source) {
        if (this.#source) this.#source.onFrame = () => {};
        this.#source = source;
        this.#epoch += 1;
        this.#isWanted = false;
        // Another source may be less work.
        this.#isBare = this.#mayBeBare;
        this.#strain = 0;
        if (!source) return;
        source.onFrame = () => this.#offer();
        if (source.isStill) this.resend();
    }

    /** While paused nothing is sent. */
    set isPaused(isPaused) {
        this.#isPaused = isPaused;
        if (!isPaused && this.#isWanted) this.#offer();
    }

    /** A new connection counts from the start. */
    restart() {
        this.#epoch += 1;
        this.#sequence = 0;
        this.#timestamp = 0n;
        if (this.#source?.isStill) this.resend();
    }

    /** Sends a still picture once more, as soon as there is room: something about the answer is to change. */
    resend() {
        if (!this.#source?.isStill) return;
        this.#isWanted = true;
        this.#offer();
    }

    /** To be called when a frame has left the flight. */
    roomAgain() {
        if (this.#isWanted) this.#offer();
    }

    async #offer() {
        const source = this.#source;
        if (!source || this.#isPaused || !this.#connection.isOpen) return;
        // Of a frame of bare pixels all may still be on its way to the browser's other processes.
        const isLate = this.#connection.bufferedBytes > MOST_UNSENT_BYTES + (this.#isBare ? this.#lastBytes : 0);
        const isSkipped = this.#isBusy || this.#flight.isFull || isLate;
        this.#strain = this.#strain * STRAIN_KEPT + (isSkipped ? 1 : 0);
        if (this.#strain > MOST_STRAIN) this.#isBare = false;
        if (isSkipped) {
            if (!source.isStill) this.skipped += 1;
            return;
        }
        this.#isWanted = false;
        this.#isBusy = true;
        const epoch = this.#epoch;
        const takenAt = performance.now();
        try {
            const encoded = await this.#encoder.encode(await source.grab(), this.#isBare);
            if (epoch === this.#epoch && this.#connection.isOpen) this.#send(encoded, takenAt, source);
            else encoded.bitmap.close();
        } catch {
            // A camera between two settings has no picture: the next frame will do.
        } finally {
            this.#isBusy = false;
        }
        if (this.#isWanted) this.#offer();
    }

    #send({ bitmap, encoding, bytes, width, height }, takenAt, source) {
        this.#sequence += 1;
        const now = BigInt(Math.round(takenAt * 1000));
        this.#timestamp = now > this.#timestamp ? now : this.#timestamp + 1n;
        const message = { kind: "frame", encoding, sequence: this.#sequence, timestamp: this.#timestamp, width, height };
        const frame = { bitmap, source, takenAt, sentAt: performance.now(), byteCount: bytes.length, masks: {} };
        this.#lastBytes = bytes.length;
        this.#flight.add(this.#sequence, frame);
        this.#connection.send(encodeMessage({ ...message, payload: bytes }));
        this.onSent({ ...message, payload: bytes });
    }
}
