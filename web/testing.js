// For tests in a browser, only at /?test=1: window.silhouetteTest tells what was sent and what came back.

const KEPT = 60;

export function installTestHook({ pump, answers, compositor, connection, settings, statistics, flight, shown }) {
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
    answers.onAnswer = (answer) => {
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
                alpha: maskOf(answer?.masks.alpha),
                result: answer?.result,
                roundTrip: answer?.roundTrip,
            };
        },
        shownSequence: () => shown()?.sequence ?? 0,
        /** Red, green, blue and alpha of the drawn picture; x and y from 0 to 1 from the top left. */
        pixel(x, y) {
            const { width, height } = compositor.canvas;
            return compositor.readPixel(Math.min(width - 1, Math.floor(x * width)), Math.min(height - 1, Math.floor(y * height)));
        },
    };
}
