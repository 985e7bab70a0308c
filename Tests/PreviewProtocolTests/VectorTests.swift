import Foundation
import PreviewProtocol
import TestSupport
import Testing

/// The file of messages and masks that this module and the page's `protocol.js` are both tested against.
struct Vectors: Decodable {
    struct Message: Decodable, CustomTestStringConvertible {
        let name, kind, encoding, timestamp, payload, message: String
        let version: UInt8
        let sequence, width, height: UInt32
        var testDescription: String { name }
    }

    struct MalformedMessage: Decodable, CustomTestStringConvertible {
        let name, message, error: String
        var testDescription: String { name }
    }

    struct Mask: Decodable, CustomTestStringConvertible {
        let name, data, runLength, deflate: String
        let width, height: Int
        var testDescription: String { name }
    }

    struct MalformedMask: Decodable, CustomTestStringConvertible {
        let name, encoding, payload: String
        let width, height: Int
        var testDescription: String { name }
    }

    let kinds, encodings: [String: UInt8]
    let messages: [Message]
    let malformedMessages: [MalformedMessage]
    let masks: [Mask]
    let malformedMasks: [MalformedMask]

    static let shared: Vectors = {
        do {
            let file = URL(fileURLWithPath: Checkout.path("Tests/Fixtures/protocol/vectors.json"))
            return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
        } catch {
            fatalError("the vectors cannot be read: \(error)")
        }
    }()
}

/// Bytes out of hexadecimal digits.
func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).map {
        UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
    }
}

@Suite("The shared vectors")
struct VectorTests {
    @Test("Kinds and encodings have the agreed numbers")
    func numbers() {
        let kinds = Dictionary(uniqueKeysWithValues: MessageKind.allCases.map { ("\($0)", $0.rawValue) })
        #expect(kinds == Vectors.shared.kinds)
        let encodings = Dictionary(uniqueKeysWithValues: PayloadEncoding.allCases.map { ("\($0)", $0.rawValue) })
        #expect(encodings == Vectors.shared.encodings)
    }

    @Test("A message is read and written byte for byte", arguments: Vectors.shared.messages)
    func message(vector: Vectors.Message) throws {
        let message = try PreviewMessage(bytes(vector.message))
        #expect(message.header.version == vector.version)
        #expect("\(message.header.kind)" == vector.kind)
        #expect("\(message.header.encoding)" == vector.encoding)
        #expect(message.header.sequence == vector.sequence)
        #expect(String(message.header.timestamp) == vector.timestamp)
        #expect(message.header.width == vector.width)
        #expect(message.header.height == vector.height)
        #expect(message.payload == bytes(vector.payload))
        #expect(message.bytes == bytes(vector.message))
    }

    @Test("What is no message is refused with the agreed code", arguments: Vectors.shared.malformedMessages)
    func malformed(vector: Vectors.MalformedMessage) {
        let error = #expect(throws: ProtocolError.self) { try PreviewMessage(bytes(vector.message)) }
        #expect(error?.code.rawValue == vector.error)
        #expect(error?.closeCode == (["malformed", "version"].contains(vector.error) ? 1002 : nil))
    }

    @Test("Masks are written as agreed and read again", arguments: Vectors.shared.masks)
    func mask(vector: Vectors.Mask) throws {
        let mask = bytes(vector.data)
        #expect(MaskCodec.encode(mask, as: .runLength) == bytes(vector.runLength))
        // Deflate leaves its writer free; what it wrote must be readable.
        for (encoding, payload) in [
            (PayloadEncoding.plain, mask), (.runLength, bytes(vector.runLength)), (.deflate, bytes(vector.deflate)),
            (.deflate, MaskCodec.encode(mask, as: .deflate)),
        ] {
            #expect(try MaskCodec.decode(payload, as: encoding, width: vector.width, height: vector.height) == mask)
        }
    }

    @Test("What is no mask of its size is refused", arguments: Vectors.shared.malformedMasks)
    func malformedMask(vector: Vectors.MalformedMask) throws {
        let encoding = try #require(Vectors.shared.encodings[vector.encoding].flatMap(PayloadEncoding.init))
        let error = #expect(throws: ProtocolError.self) {
            try MaskCodec.decode(bytes(vector.payload), as: encoding, width: vector.width, height: vector.height)
        }
        #expect(error?.code == .malformed)
    }

    // Browsers do not all refuse this one, so it is no vector.
    @Test("Bytes behind a mask are refused", arguments: [PayloadEncoding.plain, .runLength, .deflate])
    func maskAndMore(encoding: PayloadEncoding) throws {
        let mask: [UInt8] = [1, 1, 2, 3, 3, 3]
        let payload = MaskCodec.encode(mask, as: encoding)
        #expect(try MaskCodec.decode(payload, as: encoding, width: 3, height: 2) == mask)
        for more in [[0], [0, 0], [1, 2, 3, 4]] as [[UInt8]] {
            #expect(throws: ProtocolError.self) {
                try MaskCodec.decode(payload + more, as: encoding, width: 3, height: 2)
            }
        }
    }

    @Test("A truncated or lengthened message is refused, wherever it is cut", .childProcess)
    func lengths() throws {
        for vector in Vectors.shared.messages {
            let message = bytes(vector.message)
            for count in [0, 1, 31, message.count - 1] where count < message.count {
                #expect(throws: ProtocolError.self) { try PreviewMessage(Array(message.prefix(count))) }
            }
            #expect(throws: ProtocolError.self) { try PreviewMessage(message + [0]) }
        }
    }

    @Test("A mask that would be far longer than its size takes no memory for it", .childProcess)
    func bomb() {
        let bomb = MaskCodec.encode([UInt8](repeating: 7, count: 64 << 20), as: .deflate)
        #expect(throws: ProtocolError.self) { try MaskCodec.decode(bomb, as: .deflate, width: 257, height: 257) }
        let runs = [UInt8](repeating: 255, count: 1 << 20)
        #expect(throws: ProtocolError.self) { try MaskCodec.decode(runs, as: .runLength, width: 257, height: 257) }
    }
}
