// How fast it is: kept for the last seconds, shown twice a second.

const WINDOW_MILLISECONDS = 3000;

export class Statistics {
    #shown = []; // {at, roundTrip, inference, sent, received}
    dropped = 0;

    add(entry, now = performance.now()) {
        this.#shown.push({ at: now, ...entry });
        this.#forget(now);
    }

    clear() {
        this.#shown = [];
    }

    /** Medians, and the rate over the time in which frames came; null where nothing came lately. */
    summary(now = performance.now()) {
        this.#forget(now);
        const shown = this.#shown;
        if (shown.length === 0) return null;
        const span = Math.max(now - shown[0].at, 1);
        return {
            framesPerSecond: shown.length < 2 ? 0 : ((shown.length - 1) * 1000) / span,
            roundTrip: median(shown, "roundTrip"),
            inference: median(shown, "inference"),
            sentBytes: median(shown, "sent"),
            receivedBytes: median(shown, "received"),
        };
    }

    #forget(now) {
        while (this.#shown.length > 0 && now - this.#shown[0].at > WINDOW_MILLISECONDS) this.#shown.shift();
    }
}

function median(entries, key) {
    const values = entries.map((entry) => entry[key]).filter(Number.isFinite).sort((a, b) => a - b);
    return values.length ? values[values.length >> 1] : undefined;
}

const milliseconds = (value) => (value === undefined ? "–" : `${value.toFixed(value < 10 ? 1 : 0)} ms`);
const kilobytes = (value) => (value ? `${(value / 1000).toFixed(value < 9950 ? 1 : 0)} kB` : "–");

/** The two facts that everybody wants, for the top line. */
export function shortFacts(summary) {
    if (!summary?.framesPerSecond) return "";
    const rate = `${Math.round(summary.framesPerSecond)} frames/s`;
    return summary.roundTrip === undefined ? rate : `${rate}, ${milliseconds(summary.roundTrip)}`;
}

/** Texts for the page, by the ids of their elements. */
export function factsOf(summary, dropped) {
    return {
        "fact-rate": summary?.framesPerSecond ? summary.framesPerSecond.toFixed(1) : "–",
        "fact-round-trip": milliseconds(summary?.roundTrip),
        "fact-inference": milliseconds(summary?.inference),
        "fact-dropped": String(dropped),
        "fact-sent": kilobytes(summary?.sentBytes),
        "fact-received": kilobytes(summary?.receivedBytes),
    };
}
