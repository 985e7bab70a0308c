// The messages of the live preview, as protocol.md describes them. The same vectors test this file and its twin in Swift:
// Tests/Fixtures/protocol/vectors.json.

/** What this page speaks. Programs may speak version 1 as well. */
export const PROTOCOL_VERSION = 2;
export const SUBPROTOCOL = "silhouette.preview.2";
export const HEADER_BYTES = 32;

const MAGIC = [0x53, 0x4c, 0x48, 0x50]; // "SLHP"

/** A mask of more pixels is refused before memory is taken for it. */
const MAXIMUM_MASK_PIXELS = 4096 * 4096;

export const KINDS = Object.freeze({
    frame: 1,
    settings: 2,
    hello: 129,
    categories: 130,
    alpha: 131,
    overlay: 132,
    picture: 133,
    result: 134,
    dropped: 135,
    error: 136,
    settingsInForce: 137,
    matte: 138,
});

export const ENCODINGS = Object.freeze({
    none: 0,
    jpeg: 1,
    webp: 2,
    png: 3,
    rgb: 4,
    rgba: 5,
    json: 16,
    plain: 32,
    deflate: 33,
    runLength: 34,
});

const PICTURES = ["jpeg", "webp", "png", "rgb", "rgba"];
const MASKS = ["plain", "deflate", "runLength"];

const ENCODINGS_OF_KIND = Object.freeze({
    frame: PICTURES,
    settings: ["json"],
    hello: ["json"],
    categories: MASKS,
    alpha: MASKS,
    overlay: PICTURES,
    picture: PICTURES,
    result: ["json"],
    dropped: ["none"],
    error: ["json"],
    settingsInForce: ["json"],
    matte: MASKS,
});

/** Kinds that are about a picture: a width or height of 0 makes no sense in them. */
const KINDS_WITH_PIXELS = new Set(["frame", "categories", "alpha", "matte", "overlay", "picture"]);

const namesByNumber = (table) => new Map(Object.entries(table).map(([name, number]) => [number, name]));
const KIND_NAMES = namesByNumber(KINDS);
const ENCODING_NAMES = namesByNumber(ENCODINGS);

/** Something that breaks the protocol; `code` is one of the codes in protocol.md. */
export class ProtocolError extends Error {
    constructor(code, message) {
        super(message);
        this.name = "ProtocolError";
        this.code = code;
    }
}

/**
 * Header and payload as one message.
 * @param {{version?: number, kind: string, encoding?: string, sequence?: number, timestamp?: bigint, width?: number, height?: number,
 *     payload?: Uint8Array}} message
 * @returns {Uint8Array}
 */
export function encodeMessage({
    version = PROTOCOL_VERSION,
    kind,
    encoding = "none",
    sequence = 0,
    timestamp = 0n,
    width = 0,
    height = 0,
    payload = new Uint8Array(0),
}) {
    const bytes = new Uint8Array(HEADER_BYTES + payload.length);
    const view = new DataView(bytes.buffer);
    bytes.set(MAGIC);
    view.setUint8(4, version);
    view.setUint8(5, KINDS[kind]);
    view.setUint8(6, ENCODINGS[encoding]);
    view.setUint32(8, sequence, true);
    view.setUint32(12, payload.length, true);
    view.setBigUint64(16, timestamp, true);
    view.setUint32(24, width, true);
    view.setUint32(28, height, true);
    bytes.set(payload, HEADER_BYTES);
    return bytes;
}

/** A message whose payload is JSON. */
export function encodeJSON(kind, value) {
    return encodeMessage({ kind, encoding: "json", payload: new TextEncoder().encode(JSON.stringify(value)) });
}

/**
 * The parts of a message; the payload shares its memory.
 * @param {Uint8Array} bytes
 * @param {number} version what the connection speaks
 * @throws {ProtocolError}
 */
export function decodeMessage(bytes, version = PROTOCOL_VERSION) {
    if (bytes.length < HEADER_BYTES) {
        throw new ProtocolError("malformed", `${bytes.length} bytes are no message: a header has ${HEADER_BYTES}`);
    }
    if (MAGIC.some((byte, index) => bytes[index] !== byte)) {
        throw new ProtocolError("malformed", "the message does not begin with SLHP");
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (view.getUint8(4) !== version) {
        throw new ProtocolError("version", `protocol version ${view.getUint8(4)}; this side speaks ${version}`);
    }
    if (view.getUint8(7) !== 0) throw new ProtocolError("malformed", "the reserved byte is not 0");
    const payload = bytes.subarray(HEADER_BYTES);
    if (view.getUint32(12, true) !== payload.length) {
        throw new ProtocolError(
            "malformed",
            `the header names a payload of ${view.getUint32(12, true)} bytes, ${payload.length} follow it`,
        );
    }
    const kind = KIND_NAMES.get(view.getUint8(5));
    if (!kind) throw new ProtocolError("unknown-kind", `no message kind ${view.getUint8(5)}`);
    const encoding = ENCODING_NAMES.get(view.getUint8(6));
    if (!encoding || !ENCODINGS_OF_KIND[kind].includes(encoding)) {
        throw new ProtocolError("unknown-encoding", `no encoding ${view.getUint8(6)} for ${kind}`);
    }
    const width = view.getUint32(24, true);
    const height = view.getUint32(28, true);
    if (KINDS_WITH_PIXELS.has(kind) && (width === 0 || height === 0)) {
        throw new ProtocolError("malformed", `a ${kind} of ${width} x ${height} pixels`);
    }
    return {
        kind,
        encoding,
        sequence: view.getUint32(8, true),
        timestamp: view.getBigUint64(16, true),
        width,
        height,
        payload,
    };
}

/**
 * The JSON object in a message.
 * @throws {ProtocolError}
 */
export function decodeJSON({ kind, payload }) {
    let value;
    try {
        value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    } catch {
        throw new ProtocolError("malformed", `the ${kind} message holds no JSON`);
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
        throw new ProtocolError("malformed", `the ${kind} message holds no JSON object`);
    }
    return value;
}

/**
 * A mask's bytes, row by row, one a pixel.
 * @returns {Promise<Uint8Array>}
 * @throws {ProtocolError} where the payload is damaged or is not exactly width * height bytes
 */
export async function decodeMask({ encoding, width, height, payload }) {
    const size = width * height;
    if (size > MAXIMUM_MASK_PIXELS) throw new ProtocolError("too-large", `a mask of ${width} x ${height} pixels`);
    const mask = await MASK_DECODERS[encoding](payload, size);
    if (mask.length !== size) throw wrongSize(mask.length, size);
    return mask;
}

const MASK_DECODERS = {
    plain: (payload) => payload,
    runLength: decodeRunLength,
    deflate: inflate,
};

const wrongSize = (got, size) => new ProtocolError("malformed", `a mask of ${got} bytes where ${size} are due`);

/** Pairs of bytes: how often the value comes, less one, and the value. */
function decodeRunLength(payload, size) {
    if (payload.length % 2) throw new ProtocolError("malformed", "half a run at the end of a mask");
    const mask = new Uint8Array(size);
    let end = 0;
    for (let index = 0; index < payload.length; index += 2) {
        const start = end;
        end += payload[index] + 1;
        if (end > size) throw new ProtocolError("malformed", `a mask of more than ${size} bytes`);
        mask.fill(payload[index + 1], start, end);
    }
    if (end !== size) throw wrongSize(end, size);
    return mask;
}

/** Raw deflate, given up as soon as more comes out than the mask has pixels. */
async function inflate(payload, size) {
    const stream = new DecompressionStream("deflate-raw");
    const writer = stream.writable.getWriter();
    const written = Promise.all([writer.write(payload), writer.close()]);
    written.catch(() => {}); // the reader sees the same error
    const mask = new Uint8Array(size);
    const reader = stream.readable.getReader();
    let end = 0;
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            if (end + value.length > size) {
                reader.cancel().catch(() => {});
                throw new ProtocolError("malformed", `a mask of more than ${size} bytes`);
            }
            mask.set(value, end);
            end += value.length;
        }
    } catch (error) {
        if (error instanceof ProtocolError) throw error;
        throw new ProtocolError("malformed", "a mask that cannot be inflated");
    }
    if (end !== size) throw wrongSize(end, size);
    return mask;
}
