// Frames on their way: what the pump sends, and what becomes of the answers. The browser's parts are played by the test.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Answers } from "../answers.js";
import { Flight } from "../flight.js";
import { decodeMessage, encodeMessage } from "../protocol.js";
import { Pump } from "../pump.js";

/** Waits until all that needs no time has been done. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

class Picture {
    isClosed = false;
    width = 4;
    height = 2;

    close() {
        this.isClosed = true;
    }
}

const text = (value) => new TextEncoder().encode(JSON.stringify(value));

// Answers

class Line extends EventTarget {
    closedWith = null;

    say(message) {
        this.dispatchEvent(Object.assign(new Event("message"), { message: decodeMessage(encodeMessage(message)) }));
    }

    result(sequence) {
        this.say({ kind: "result", encoding: "json", sequence, payload: text({}) });
    }

    mask(sequence, payload = Uint8Array.of(1, 2, 3, 4), encoding = "plain") {
        this.say({ kind: "matte", encoding, sequence, width: 2, height: 2, payload });
    }

    drop(code) {
        this.closedWith = code;
    }
}

/** A page that has sent frames and keeps a list of what it shows. */
function listening(...sent) {
    const line = new Line();
    const flight = new Flight(9);
    const answers = new Answers(line, flight);
    const seen = { shown: [], dropped: [], room: 0 };
    answers.onAnswer = ({ sequence, masks }) => seen.shown.push({ sequence, masks });
    answers.onDropped = (frame) => seen.dropped.push(frame);
    answers.onRoom = () => (seen.room += 1);
    const send = (sequence) => {
        const frame = { bitmap: new Picture(), sentAt: 0, masks: {} };
        flight.add(sequence, frame);
        return frame;
    };
    return { line, flight, answers, seen, send, frames: sent.map(send) };
}

const shownBy = (page) => page.seen.shown.map(({ sequence }) => sequence);

test("a frame is shown with its own masks, once its result has come", async () => {
    const page = listening(1, 2);
    page.line.mask(2, Uint8Array.of(9, 9, 9, 9));
    page.line.mask(1);
    await settled();
    assert.deepEqual(shownBy(page), []);
    page.line.result(1);
    page.line.result(2);
    await settled();
    assert.deepEqual(
        page.seen.shown.map(({ sequence, masks }) => [sequence, [...masks.matte.bytes]]),
        [[1, [1, 2, 3, 4]], [2, [9, 9, 9, 9]]],
    );
    assert.equal(page.flight.count, 0);
    assert.equal(page.seen.room, 2);
});

test("an older frame is never shown after a newer one", async () => {
    const page = listening(1, 2);
    page.line.result(2);
    await settled();
    page.line.result(1);
    await settled();
    assert.deepEqual(shownBy(page), [2]);
    assert.equal(page.frames[0].bitmap.isClosed, true);
    assert.equal(page.frames[1].bitmap.isClosed, false);
});

test("a new connection counts from the start, and what was on its way is given up", async () => {
    const page = listening(7, 8);
    page.line.result(7);
    await settled();
    page.answers.restart();
    await settled();
    assert.equal(page.frames[1].bitmap.isClosed, true);
    page.line.result(8);
    page.send(1);
    page.line.result(1);
    await settled();
    assert.deepEqual(shownBy(page), [7, 1]);
});

test("a frame that the server left out, or could not use, makes room", async () => {
    const page = listening(1, 2);
    page.line.say({ kind: "dropped", sequence: 1 });
    page.line.dispatchEvent(Object.assign(new Event("problem"), { error: { code: "bad-picture" }, sequence: 2 }));
    await settled();
    assert.equal(page.flight.count, 0);
    assert.equal(page.seen.room, 2);
    assert.deepEqual(page.seen.dropped, [page.frames[0]]);
    assert.deepEqual(page.frames.map((frame) => frame.bitmap.isClosed), [true, true]);
});

test("a damaged mask ends the connection, and its frame is not shown", async () => {
    const page = listening(1);
    page.line.mask(1, Uint8Array.of(1, 2, 3), "plain");
    page.line.result(1);
    await settled();
    assert.equal(page.line.closedWith, 1002);
    assert.deepEqual(shownBy(page), []);
    assert.equal(page.frames[0].bitmap.isClosed, true);
});

/** Makes mattes when the test says so. */
class FakeMaker {
    waiting = [];

    make(bitmap, map) {
        return new Promise((resolve, reject) => this.waiting.push({ bitmap, map, resolve, reject }));
    }

    async finish(matte) {
        const { bitmap, resolve } = this.waiting.shift();
        resolve({ bitmap, matte });
        await settled();
    }
}

function making(...sent) {
    const page = listening(...sent);
    page.answers.maker = new FakeMaker();
    page.end = async (sequence, result = { matteRadius: 8 }) => {
        page.line.mask(sequence);
        page.line.say({ kind: "result", encoding: "json", sequence, payload: text(result) });
        await settled();
    };
    return page;
}

test("a frame is shown once its matte is made, and until then keeps its place in flight", async () => {
    const page = making(1);
    await page.end(1);
    const [{ map }] = page.answers.maker.waiting;
    assert.deepEqual([map.width, map.height, map.radius, [...map.bytes]], [2, 2, 8, [1, 2, 3, 4]]);
    assert.deepEqual([shownBy(page), page.flight.held, page.seen.room], [[], 1, 0]);
    await page.answers.maker.finish("a matte");
    assert.equal(page.seen.shown[0].masks.matte, "a matte");
    assert.deepEqual([shownBy(page), page.flight.held, page.seen.room], [[1], 0, 1]);
});

test("a matte without its radius ends the connection, and its frame makes room", async () => {
    for (const result of [{}, { matteRadius: 0 }, { matteRadius: 1.5 }, { matteRadius: "8" }]) {
        const page = making(1);
        await page.end(1, result);
        assert.equal(page.line.closedWith, 1002);
        assert.deepEqual([shownBy(page), page.flight.held, page.seen.room], [[], 0, 1]);
        assert.equal(page.frames[0].bitmap.isClosed, true);
    }
});

test("what was made for a connection that is lost is not shown on the next one", async () => {
    const page = making(7);
    await page.end(7);
    page.answers.restart();
    await page.answers.maker.finish("a matte");
    assert.deepEqual(shownBy(page), []);
    assert.equal(page.frames[0].bitmap.isClosed, true);
    page.send(1);
    await page.end(1);
    await page.answers.maker.finish("another");
    assert.deepEqual(shownBy(page), [1]);
});

test("frames of the server's own that come faster than mattes are made do not pile up", async () => {
    const page = making(1, 2, 3, 4);
    for (const sequence of [1, 2, 3, 4]) await page.end(sequence);
    assert.ok(page.answers.maker.waiting.length <= 2);
    while (page.answers.maker.waiting.length) await page.answers.maker.finish("a matte");
    assert.deepEqual(shownBy(page), [1, 2]);
    assert.deepEqual(page.frames.map(({ bitmap }) => bitmap.isClosed), [false, false, true, true]);
});

// Pump

/** Encodes when the test says so. */
class FakeWorker {
    static last;
    waiting = [];

    constructor() {
        FakeWorker.last = this;
    }

    postMessage({ bitmap, width, height, isBare }) {
        const encoding = isBare ? "rgb" : "jpeg";
        this.waiting.push({ bitmap, encoding, bytes: new Uint8Array(isBare ? width * height * 3 : 1), width, height });
    }

    async finish() {
        await settled();
        this.onmessage({ data: this.waiting.shift() });
        await settled();
    }
}

const real = { Worker: globalThis.Worker, OffscreenCanvas: globalThis.OffscreenCanvas };
globalThis.Worker = FakeWorker;
globalThis.OffscreenCanvas = class {
    convertToBlob() {}
};
after(() => Object.assign(globalThis, real));

class Camera {
    isStill = false;
    onFrame = () => {};

    async grab() {
        this.grabbed = new Picture();
        return this.grabbed;
    }
}

function pumping(hostname) {
    const connection = { isOpen: true, bufferedBytes: 0, sent: [], send: (bytes) => connection.sent.push(decodeMessage(bytes)) };
    const flight = new Flight(2);
    const pump = new Pump(connection, flight, hostname);
    const camera = new Camera();
    pump.source = camera;
    return { connection, flight, pump, camera, encoder: FakeWorker.last };
}

test("frames rise in number and in time, also within a microsecond", async (context) => {
    const { connection, flight, camera, encoder } = pumping();
    context.mock.method(performance, "now", () => 5);
    for (let count = 0; count < 3; count += 1) {
        camera.onFrame();
        await encoder.finish();
        flight.take(count + 1);
    }
    assert.deepEqual(connection.sent.map(({ sequence }) => sequence), [1, 2, 3]);
    assert.deepEqual(connection.sent.map(({ timestamp }) => timestamp), [5000n, 5001n, 5002n]);
});

test("never more than two frames are on their way, and those that were skipped are counted", async () => {
    const { connection, flight, pump, camera, encoder } = pumping();
    for (let count = 0; count < 2; count += 1) {
        camera.onFrame();
        await encoder.finish();
    }
    camera.onFrame();
    await settled();
    assert.equal(encoder.waiting.length, 0);
    assert.equal(pump.skipped, 1);
    flight.take(1);
    camera.onFrame();
    await encoder.finish();
    assert.equal(connection.sent.length, 3);
});

test("nothing is taken while much is unsent, or while paused", async () => {
    const { connection, pump, camera, encoder } = pumping();
    connection.bufferedBytes = 1 << 20;
    camera.onFrame();
    connection.bufferedBytes = 0;
    pump.isPaused = true;
    camera.onFrame();
    await settled();
    assert.equal(encoder.waiting.length, 0);
    pump.isPaused = false;
    camera.onFrame();
    await encoder.finish();
    assert.equal(connection.sent.length, 1);
});

test("frames go as they are within a machine that keeps up, else as JPEG files", async () => {
    for (const hostname of ["localhost", "127.0.0.1", "[::1]"]) {
        const { connection, flight, pump, camera, encoder } = pumping(hostname);
        const send = async () => {
            camera.onFrame();
            await encoder.finish();
            flight.take(connection.sent.length);
            return connection.sent.at(-1).encoding;
        };
        assert.equal(await send(), "rgb");
        for (const [count, encoding] of [[9, "rgb"], [9, "jpeg"]]) {
            connection.bufferedBytes = 1 << 20;
            for (let late = 0; late < count; late += 1) camera.onFrame();
            connection.bufferedBytes = 0;
            assert.equal(await send(), encoding);
        }
        // Another source may be less work.
        pump.source = camera;
        assert.equal(await send(), "rgb");
    }
    const { connection, camera, encoder } = pumping("silhouette.example");
    camera.onFrame();
    await encoder.finish();
    assert.equal(connection.sent[0].encoding, "jpeg");
});

test("a picture of the source before is not sent once there is another", async () => {
    const { connection, pump, camera, encoder } = pumping();
    camera.onFrame();
    await settled();
    pump.source = new Camera();
    await encoder.finish();
    assert.deepEqual(connection.sent, []);
    assert.equal(camera.grabbed.isClosed, true);
});

test("a still picture is sent again on a new connection, and when there is room", async () => {
    const { connection, flight, pump, encoder } = pumping();
    const photograph = Object.assign(new Camera(), { isStill: true });
    pump.source = photograph;
    await encoder.finish();
    pump.restart();
    await encoder.finish();
    assert.deepEqual(connection.sent.map(({ sequence }) => sequence), [1, 1]);
    flight.add(2, {});
    pump.resend();
    await settled();
    assert.equal(encoder.waiting.length, 0);
    flight.take(2);
    pump.roomAgain();
    await encoder.finish();
    assert.equal(connection.sent.length, 3);
});

test("what is drawn and not yet shown counts as on its way", async () => {
    const { connection, flight, camera, encoder } = pumping();
    flight.held = 2;
    camera.onFrame();
    await settled();
    assert.equal(encoder.waiting.length, 0);
    flight.held = 1;
    camera.onFrame();
    await encoder.finish();
    assert.equal(connection.sent.length, 1);
});
