// The frames that are on their way: sent, and not yet answered by a result, a drop or an error.

/** A frame whose answer never comes must not stop the page for ever. */
const LOST_AFTER_MILLISECONDS = 20_000;

export class Flight {
    /** Frames that are answered, and not drawn yet. */
    held = 0;
    #frames = new Map();
    #maximum;

    constructor(maximum) {
        this.#maximum = maximum;
    }

    get isFull() {
        return this.#frames.size + this.held >= this.#maximum;
    }

    get count() {
        return this.#frames.size;
    }

    add(sequence, frame) {
        this.#frames.set(sequence, frame);
    }

    get(sequence) {
        return this.#frames.get(sequence);
    }

    /** The frame, which is then no longer in flight. */
    take(sequence) {
        const frame = this.#frames.get(sequence);
        this.#frames.delete(sequence);
        return frame;
    }

    /** Whether the oldest frame has been waiting for so long that the server must be stuck. */
    isLost(now) {
        const [oldest] = this.#frames.values();
        return oldest !== undefined && now - oldest.sentAt > LOST_AFTER_MILLISECONDS;
    }

    /** Gives up all frames; `release` frees what each holds. */
    clear(release) {
        for (const frame of this.#frames.values()) release(frame);
        this.#frames.clear();
    }
}
