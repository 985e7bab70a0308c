// The WebSocket to the server: opens it, opens it again with growing pauses when it is lost, and turns bytes into messages.

import { decodeJSON, decodeMessage, ProtocolError, PROTOCOL_VERSION, SUBPROTOCOL } from "./protocol.js";

const FIRST_PAUSE_MILLISECONDS = 500;
const LONGEST_PAUSE_MILLISECONDS = 8000;
const HELLO_WITHIN_MILLISECONDS = 10_000;

/** The pause before attempt n (from 0): doubled each time, with a random part so that pages do not all come back at once. */
export function pauseBefore(attempt, random = Math.random()) {
    const longest = Math.min(LONGEST_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** attempt);
    return longest * (0.75 + 0.25 * random);
}

/**
 * Events: "state" (look at `state`), "message" (a decoded message), "problem" (an error that the server named).
 *
 * state.phase is one of
 *   connecting   for the first time or again
 *   open         hello has come: `hello` is set
 *   waiting      lost; tried again at `state.retryAt`; `state.reason` is "gone", "refused" or "busy"
 *   incompatible the server speaks another version: no further attempt
 */
export class Connection extends EventTarget {
    state = { phase: "connecting" };
    hello = null;
    #url;
    #socket = null;
    #attempt = 0;
    #timer = 0;
    #lastError = null;

    constructor(url) {
        super();
        this.#url = url;
    }

    get isOpen() {
        return this.state.phase === "open";
    }

    /** Bytes that the browser has not sent yet. */
    get bufferedBytes() {
        return this.#socket?.bufferedAmount ?? 0;
    }

    connect() {
        clearTimeout(this.#timer);
        this.#lastError = null;
        this.#become({ phase: "connecting", again: this.#attempt > 0 });
        const socket = new WebSocket(this.#url, SUBPROTOCOL);
        this.#socket = socket;
        socket.binaryType = "arraybuffer";
        socket.onmessage = (event) => socket === this.#socket && this.#receive(event.data);
        socket.onclose = () => socket === this.#socket && this.#lose();
        this.#timer = setTimeout(() => this.drop(), HELLO_WITHIN_MILLISECONDS);
    }

    /** Tries at once where it would have waited. */
    retryNow() {
        if (this.state.phase === "waiting") this.connect();
    }

    /** Gives up this connection, as if it had been lost. */
    drop(code = 1000) {
        const socket = this.#socket;
        if (!socket) return;
        this.#lose();
        socket.close(code);
    }

    send(bytes) {
        if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(bytes);
    }

    #receive(data) {
        try {
            if (typeof data === "string") throw new ProtocolError("malformed", "a text message");
            const message = decodeMessage(new Uint8Array(data));
            if (message.kind === "hello") this.#greet(decodeJSON(message));
            else if (message.kind === "error") this.#hear(decodeJSON(message), message);
            else if (this.isOpen) this.dispatchEvent(Object.assign(new Event("message"), { message }));
        } catch (error) {
            if (!(error instanceof ProtocolError)) throw error;
            if (error.code === "version") this.#stop();
            else this.drop(1002);
        }
    }

    #greet(hello) {
        if (hello.protocol !== PROTOCOL_VERSION || !Array.isArray(hello.models) || hello.models.length === 0) {
            this.#stop();
            return;
        }
        clearTimeout(this.#timer);
        this.#attempt = 0;
        this.hello = hello;
        this.#become({ phase: "open" });
    }

    #hear(error, { sequence }) {
        this.#lastError = error;
        this.dispatchEvent(Object.assign(new Event("problem"), { error, sequence }));
    }

    #lose() {
        clearTimeout(this.#timer);
        this.#socket = null;
        if (this.state.phase === "incompatible") return;
        const wasOpen = this.isOpen;
        const pause = pauseBefore(this.#attempt);
        this.#attempt += 1;
        const reason = this.#lastError?.code === "busy" ? "busy" : "gone";
        this.#become({ phase: "waiting", reason, retryAt: performance.now() + pause });
        this.#timer = setTimeout(() => this.connect(), pause);
        if (!wasOpen && reason === "gone") this.#askWhetherRefused();
    }

    /** A browser does not say why a WebSocket failed: a server that answers HTTP has refused it. */
    async #askWhetherRefused() {
        try {
            await fetch("/healthz", { cache: "no-store" });
        } catch {
            return;
        }
        if (this.state.phase === "waiting") this.#become({ ...this.state, reason: "refused" });
    }

    #stop() {
        clearTimeout(this.#timer);
        this.#become({ phase: "incompatible" });
        this.#socket?.close(1002);
        this.#socket = null;
    }

    #become(state) {
        this.state = state;
        if (state.phase !== "open") this.hello = null;
        this.dispatchEvent(new Event("state"));
    }
}
