// The parts of the page that need no browser.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Connection, pauseBefore } from "../connection.js";
import { sentSize } from "../encoder.js";
import { enlarge } from "../enlarge.js";
import { Flight } from "../flight.js";
import { classesOf, edgeRange, lookOf } from "../look.js";
import { encodeJSON, encodeMessage } from "../protocol.js";
import { outlined, smoothed } from "../outline.js";
import { outlineOf, requestFor } from "../still.js";
import { Settings } from "../settings.js";
import { factsOf, shortFacts, Statistics } from "../statistics.js";

test("pauses between attempts double, stay below 8 seconds and are spread", () => {
    assert.deepEqual([0, 1, 2, 3, 4, 5, 50].map((attempt) => pauseBefore(attempt, 1)), [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    assert.equal(pauseBefore(3, 0), 3000);
});

class FakeSocket {
    static OPEN = 1;
    static all = [];
    readyState = 1;
    bufferedAmount = 0;
    sent = [];
    closedWith = null;

    constructor(url, subprotocol) {
        Object.assign(this, { url, subprotocol });
        FakeSocket.all.push(this);
    }

    send(bytes) {
        this.sent.push(bytes);
    }

    close(code) {
        this.closedWith = code;
        this.readyState = 3;
    }

    receive(bytes) {
        this.onmessage({ data: typeof bytes === "string" ? bytes : bytes.buffer });
    }
}

const HELLO = encodeJSON("hello", { protocol: 2, models: [{ id: "m", labels: [] }], limits: {} });

function withConnection(run) {
    return () => {
        mock.timers.enable({ apis: ["setTimeout"] });
        FakeSocket.all = [];
        globalThis.WebSocket = FakeSocket;
        globalThis.fetch = async () => {
            throw new TypeError("no server");
        };
        try {
            const connection = new Connection("ws://server/preview");
            connection.connect();
            return run(connection, () => FakeSocket.all.at(-1));
        } finally {
            mock.timers.reset();
        }
    };
}

test(
    "a connection is open once hello has come",
    withConnection((connection, socket) => {
        assert.equal(socket().subprotocol, "silhouette.preview.2");
        assert.equal(connection.isOpen, false);
        socket().receive(HELLO);
        assert.equal(connection.isOpen, true);
        assert.equal(connection.hello.models[0].id, "m");
    }),
);

test(
    "a connection that is lost is opened again, and again",
    withConnection((connection, socket) => {
        socket().receive(HELLO);
        for (let attempt = 0; attempt < 5; attempt += 1) {
            socket().onclose();
            assert.equal(connection.state.phase, "waiting");
            assert.equal(connection.state.reason, "gone");
            assert.equal(connection.hello, null);
            mock.timers.tick(8000);
            assert.equal(FakeSocket.all.length, attempt + 2);
        }
        socket().receive(HELLO);
        assert.equal(connection.isOpen, true);
    }),
);

test(
    "a retry by hand does not wait, and a late close of the old socket does no harm",
    withConnection((connection, socket) => {
        const old = socket();
        old.onclose();
        connection.retryNow();
        assert.equal(FakeSocket.all.length, 2);
        socket().receive(HELLO);
        old.onclose();
        assert.equal(connection.isOpen, true);
    }),
);

test(
    "after a good connection the first pause is short again",
    withConnection((connection, socket) => {
        for (let attempt = 0; attempt < 6; attempt += 1) {
            socket().onclose();
            mock.timers.tick(8000);
        }
        socket().receive(HELLO);
        socket().onclose();
        const count = FakeSocket.all.length;
        mock.timers.tick(500);
        assert.equal(FakeSocket.all.length, count + 1);
    }),
);

test(
    "what an old socket still says is not heard",
    withConnection((connection, socket) => {
        const old = socket();
        old.receive(HELLO);
        old.onclose();
        connection.retryNow();
        old.receive(HELLO);
        assert.equal(connection.isOpen, false);
        socket().receive(HELLO);
        const heard = [];
        connection.addEventListener("message", ({ message }) => heard.push(message.sequence));
        old.receive(encodeMessage({ kind: "dropped", sequence: 1 }));
        socket().receive(encodeMessage({ kind: "dropped", sequence: 2 }));
        assert.deepEqual(heard, [2]);
    }),
);

test(
    "a server that sends rubbish is left with 1002",
    withConnection((connection, socket) => {
        socket().receive(HELLO);
        const first = socket();
        first.receive(encodeMessage({ kind: "dropped" }).slice(0, 20));
        assert.equal(first.closedWith, 1002);
        mock.timers.tick(8000);
        socket().receive("text");
        assert.equal(socket().closedWith ?? FakeSocket.all.at(-1).closedWith, 1002);
    }),
);

test(
    "a server of another version is not tried again",
    withConnection((connection, socket) => {
        socket().receive(encodeJSON("hello", { protocol: 3, models: [{ id: "m" }] }));
        assert.equal(connection.state.phase, "incompatible");
        mock.timers.tick(60_000);
        assert.equal(FakeSocket.all.length, 1);
    }),
);

test(
    "a server that says nothing within ten seconds is given up",
    withConnection((connection) => {
        mock.timers.tick(10_000);
        assert.equal(connection.state.phase, "waiting");
    }),
);

test(
    "a busy server is called busy",
    withConnection((connection, socket) => {
        socket().receive(encodeJSON("error", { code: "busy", message: "64 pages", fatal: true }));
        socket().onclose();
        assert.equal(connection.state.reason, "busy");
    }),
);

test("at most two frames are in flight, and one without an answer is noticed", () => {
    const flight = new Flight(2);
    flight.add(1, { sentAt: 1000 });
    assert.equal(flight.isFull, false);
    flight.add(2, { sentAt: 1010 });
    assert.equal(flight.isFull, true);
    assert.equal(flight.isLost(20_000), false);
    assert.equal(flight.isLost(22_000), true);
    assert.deepEqual(flight.take(1), { sentAt: 1000 });
    assert.equal(flight.take(1), undefined);
    assert.equal(flight.isFull, false);
    const released = [];
    flight.clear((frame) => released.push(frame.sentAt));
    assert.deepEqual(released, [1010]);
    assert.equal(flight.isLost(99_000), false);
});

test("frames are sent at most 640 on their longer side", () => {
    assert.deepEqual(sentSize(1280, 720), { width: 640, height: 360 });
    assert.deepEqual(sentSize(720, 1280), { width: 360, height: 640 });
    assert.deepEqual(sentSize(320, 200), { width: 320, height: 200 });
    assert.deepEqual(sentSize(10_000, 1), { width: 640, height: 1 });
});

test("an enlarged mask keeps its plains, is symmetric and rises without steps", () => {
    const mask = { bytes: Uint8Array.from([0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255]), width: 8, height: 2 };
    const levels = Uint8Array.from({ length: 256 }, (_, value) => value);
    const colors = Uint32Array.from({ length: 256 }, (_, value) => value);
    const pixels = new Uint32Array(80 * 20);
    enlarge(mask, levels, colors, pixels, 80, 20);
    assert.deepEqual([...pixels.subarray(0, 80)], [...pixels.subarray(80 * 19, 80 * 20)]);
    const row = [...pixels.subarray(0, 80)];
    assert.deepEqual([row[0], row[20], row[60], row[79]], [0, 0, 255, 255]);
    for (let x = 1; x < 80; x += 1) {
        assert.ok(row[x] >= row[x - 1] && row[x] - row[x - 1] < 26, `at ${x}`);
        assert.ok(Math.abs(row[x] + row[79 - x] - 255) <= 1, `at ${x}`);
    }
});

test("what lies under is written only where nothing is", () => {
    const mask = { bytes: Uint8Array.of(0, 255), width: 2, height: 1 };
    const levels = Uint8Array.from({ length: 256 }, (_, value) => value);
    const pixels = new Uint32Array(20).fill(9, 0, 2);
    const colors = Uint32Array.from({ length: 256 }, (_, level) => (level > 200 ? 7 : 0));
    enlarge(mask, levels, colors, pixels, 20, 1, new Uint32Array(256).fill(5));
    assert.deepEqual([...new Set(pixels)], [9, 5, 7]);
    assert.deepEqual([...pixels.subarray(0, 3)], [9, 9, 5]);
});

test("a class's outline is dark outside and light inside, and its fill has the chosen opacity", () => {
    const red = [1, 0, 0];
    assert.deepEqual(outlined(0, red, 0.5), [0, 0, 0, 0]);
    assert.deepEqual(outlined(1, red, 0.5), [0.5, 0, 0, 0.5]);
    const contrast = (share, beneath) => {
        const [r, g, b, a] = outlined(share, red, 0.5);
        return Math.abs((r + g + b) / 3 + beneath * (1 - a) - beneath);
    };
    // On white the dark line shows, on black the light one, on grey both; whatever the fill is.
    assert.ok(contrast(0.3, 1) > 0.4 && contrast(0.6, 0) > 0.8);
    for (let beneath = 0; beneath <= 1; beneath += 0.05) assert.ok(Math.max(contrast(0.3, beneath), contrast(0.6, beneath)) > 0.25, `${beneath}`);
    assert.ok(outlined(0.6, red, 0)[3] > 0.9, "lines without a fill");
});

test("a mask of classes loses stairs and lonely pixels, and keeps its plains", () => {
    const rows = ["00000000", "00000000", "00100222", "00000222", "00002222", "00022222"];
    const mask = { bytes: Uint8Array.from(rows.join("")), width: 8, height: 6 };
    const { bytes } = smoothed(mask);
    assert.equal(bytes[2 * 8 + 2], 0);
    assert.equal(bytes[4 * 8 + 6], 2);
    assert.equal(bytes[8], 0);
    assert.ok(!bytes.includes(1));
    assert.equal(mask.bytes[2 * 8 + 2], 1, "what came is not changed");
});

const memory = (text) => ({ text, getItem() { return this.text; }, setItem(_, value) { this.text = value; } });

test("settings are kept, and what does not fit is left out", () => {
    const storage = memory('{"mode": "blur", "opacity": 2, "color": "red", "classes": {"dog": {"color": 7}}, "extra": 1}');
    const settings = new Settings(storage);
    assert.equal(settings.values.mode, "blur");
    assert.equal(settings.values.opacity, 0.65);
    assert.equal(settings.values.color, "#3d7ea6");
    assert.deepEqual(settings.values.classes, {});
    assert.equal("extra" in settings.values, false);
    settings.set("opacity", 0.5);
    assert.equal(new Settings(storage).values.opacity, 0.5);
    assert.throws(() => settings.set("opacity", 2), RangeError);
});

test("settings work without storage, with a full one and with rubbish in it", () => {
    for (const storage of [undefined, memory("{"), memory("null"), { getItem: () => null, setItem() { throw new Error("full"); } }]) {
        const settings = new Settings(storage);
        settings.set("mode", "grey");
        assert.equal(settings.values.mode, "grey");
    }
});

const MODEL = { labels: ["background", "chair", "person"], palette: [[0, 0, 0], [192, 0, 0]], subjectClasses: [2] };

test("classes are shown as the mode and the user want", () => {
    const shown = (...more) => classesOf(MODEL, ...more).map(({ isShown }) => isShown);
    assert.deepEqual(shown({}, false), [false, true, true]);
    assert.deepEqual(shown({}, true), [false, false, true]);
    assert.deepEqual(shown({ chair: { shown: true }, person: { shown: false } }, true), [false, true, false]);
    assert.deepEqual(classesOf(MODEL, { chair: { color: "#00ff00" } }, false).map(({ color }) => color), ["#000000", "#00ff00", "#808080"]);
});

test("the look has a colour for each class and none for those that are hidden", () => {
    const values = new Settings().values;
    const { palette, split } = lookOf(values, classesOf(MODEL, {}, true), { isMirrored: false, backdrop: null });
    assert.deepEqual([...palette.subarray(4, 12)], [192, 0, 0, 0, 128, 128, 128, 255]);
    assert.equal(split, -1);
});

test("the edge stays between nothing and everything", () => {
    for (const edge of [0, 0.5, 1]) {
        for (const tightness of [0, 0.5, 1]) {
            const [low, high] = edgeRange({ edge, tightness });
            assert.ok(low > 0 && low < high && high < 1, `${edge} ${tightness}`);
        }
    }
});

test("statistics are medians of the last seconds", () => {
    const statistics = new Statistics();
    assert.equal(statistics.summary(0), null);
    for (let at = 0; at <= 2000; at += 100) {
        statistics.add({ roundTrip: at === 500 ? 9000 : 20, inference: 8, sent: 30_000, received: 900 }, at);
    }
    const summary = statistics.summary(2000);
    assert.equal(summary.framesPerSecond, 10);
    assert.equal(summary.roundTrip, 20);
    assert.equal(shortFacts(summary), "10 frames/s, 20 ms");
    assert.deepEqual(factsOf(summary, 3), {
        "fact-rate": "10.0",
        "fact-round-trip": "20 ms",
        "fact-inference": "8.0 ms",
        "fact-dropped": "3",
        "fact-sent": "30 kB",
        "fact-received": "0.9 kB",
    });
    assert.equal(statistics.summary(9000), null);
});

const CLASSES = [
    { index: 0, label: "background", isShown: false, color: "#000000", isOwnColor: false },
    { index: 8, label: "cat", isShown: true, color: "#ff8000", isOwnColor: true },
    { index: 15, label: "person", isShown: true, color: "#c08080", isOwnColor: false },
];

test("a still picture is asked for with what the page has chosen", () => {
    const more = { model: "m", width: 1280, height: 960 };
    const { values } = new Settings(undefined);
    const ask = (changes) => Object.fromEntries(requestFor({ ...values, ...changes }, CLASSES, more));
    assert.deepEqual(ask({ mode: "cutout" }), { model: "m", class: "8,15", output: "cutout" });
    assert.equal(ask({ mode: "picture" }).output, "cutout");
    assert.deepEqual(ask({ mode: "grey" }), { model: "m", class: "8,15", output: "composite", background: "gray" });
    assert.equal(ask({ mode: "color", color: "#102030" }).background, "#102030");
    assert.equal(ask({ mode: "gradient", gradientTop: "#000000", gradientBottom: "#ffffff" }).background, "gradient:180:#000000,#ffffff");
    assert.equal(ask({ mode: "blur", blur: 0.5 }).background, "blur:24.0");
    assert.equal(ask({ tightness: 1 }).threshold, "0.850");
    assert.equal(ask({ tightness: 0 }).threshold, "0.150");
    assert.equal(ask({ edge: 1 }).feather, "38.4");
    assert.equal(ask({ edge: 0 }).feather, undefined);
    const overlay = ask({ mode: "overlay", opacity: 0.4, tightness: 1 });
    assert.deepEqual(overlay, {
        model: "m", class: "8,15", output: "overlay", opacity: "0.4", outline: "4", "class-color": "8=#ff8000", edges: "guided",
    });
    assert.equal(requestFor(values, CLASSES.map((one) => ({ ...one, isShown: false })), more), null);
    assert.deepEqual([outlineOf(100, 50), outlineOf(640, 480), outlineOf(50_000, 10)], [2, 2, 50]);
});
