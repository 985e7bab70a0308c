// The vectors that Swift's tests read too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
    decodeJSON,
    decodeMask,
    decodeMessage,
    encodeJSON,
    encodeMessage,
    ENCODINGS,
    KINDS,
    ProtocolError,
} from "../protocol.js";

const vectors = JSON.parse(
    readFileSync(new URL("../../Tests/Fixtures/protocol/vectors.json", import.meta.url), "utf8"),
);
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
const hex = (array) => Buffer.from(array).toString("hex");
const hasCode = (code) => (error) => error instanceof ProtocolError && error.code === code && error.message.length > 0;

/** Node.js before 20.12 inflates no raw deflate; browsers do, and the tests in a browser read these vectors too. */
const without = (encoding) => {
    if (encoding !== "deflate") return {};
    try {
        new DecompressionStream("deflate-raw");
        return {};
    } catch {
        return { skip: "this Node.js has no raw deflate" };
    }
};

test("kinds and encodings have the numbers of the vectors", () => {
    assert.deepEqual({ ...KINDS }, vectors.kinds);
    assert.deepEqual({ ...ENCODINGS }, vectors.encodings);
});

for (const vector of vectors.messages) {
    const fields = {
        kind: vector.kind,
        encoding: vector.encoding,
        sequence: vector.sequence,
        timestamp: BigInt(vector.timestamp),
        width: vector.width,
        height: vector.height,
    };
    test(`writes and reads ${vector.name}`, () => {
        const { version } = vector;
        assert.equal(hex(encodeMessage({ version, ...fields, payload: bytes(vector.payload) })), vector.message);
        const { payload, ...rest } = decodeMessage(bytes(vector.message), version);
        assert.deepEqual(rest, fields);
        assert.equal(hex(payload), vector.payload);
    });
}

for (const vector of vectors.malformedMessages) {
    test(`refuses ${vector.name}: ${vector.error}`, () => {
        assert.throws(() => decodeMessage(bytes(vector.message), 1), hasCode(vector.error));
    });
}

test("reads a message that lies inside a larger buffer", () => {
    const message = encodeMessage({ kind: "frame", encoding: "rgb", sequence: 3, width: 1, height: 1, payload: bytes("010203") });
    const buffer = new Uint8Array(message.length + 7);
    buffer.set(message, 5);
    assert.equal(hex(decodeMessage(buffer.subarray(5, 5 + message.length)).payload), "010203");
});

test("refuses every truncation of a message", () => {
    for (const vector of vectors.messages) {
        const message = bytes(vector.message);
        for (let length = 0; length < message.length; length += 1) {
            assert.throws(() => decodeMessage(message.subarray(0, length), vector.version), hasCode("malformed"));
        }
    }
});

for (const mask of vectors.masks) {
    const size = { width: mask.width, height: mask.height };
    for (const [encoding, payload] of [["plain", mask.data], ["runLength", mask.runLength], ["deflate", mask.deflate]]) {
        test(`decodes a ${encoding} mask: ${mask.name}`, without(encoding), async () => {
            assert.equal(hex(await decodeMask({ ...size, encoding, payload: bytes(payload) })), mask.data);
        });
    }
}

for (const mask of vectors.malformedMasks) {
    test(`refuses ${mask.name}`, without(mask.encoding), async () => {
        await assert.rejects(decodeMask({ ...mask, payload: bytes(mask.payload) }), hasCode("malformed"));
    });
}

test("takes no memory for a mask of 100,000 x 100,000 pixels", async () => {
    const claim = { encoding: "runLength", width: 100_000, height: 100_000, payload: bytes("ff00") };
    await assert.rejects(decodeMask(claim), hasCode("too-large"));
});

test("JSON messages come back as they went", () => {
    const value = { model: "größe", outputs: ["alpha"] };
    assert.deepEqual(decodeJSON(decodeMessage(encodeJSON("settings", value))), value);
});

for (const payload of ["", "{", "7", "null", "[]", "\u0000"]) {
    test(`refuses JSON ${JSON.stringify(payload)}`, () => {
        const message = { kind: "result", payload: new TextEncoder().encode(payload) };
        assert.throws(() => decodeJSON(message), hasCode("malformed"));
    });
}

test("refuses JSON that is not UTF-8", () => {
    assert.throws(() => decodeJSON({ kind: "result", payload: bytes("7b22ff223a317d") }), hasCode("malformed"));
});
