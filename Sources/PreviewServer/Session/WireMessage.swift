import CWebSockets
import PreviewProtocol

/// A message's bytes with the room before them that libwebsockets writes a frame's head into.
///
/// Several connections may send one message: all of them write on the service thread, one after another, and
/// libwebsockets copies what it cannot send at once.
final class WireMessage: @unchecked Sendable {
    /// Bytes of the message.
    let byteCount: Int
    private let memory: UnsafeMutableRawPointer

    init(_ message: PreviewMessage) {
        let padding = cws_padding()
        byteCount = MessageHeader.byteCount + message.payload.count
        memory = .allocate(byteCount: padding + byteCount, alignment: 16)
        let bytes = UnsafeMutableRawBufferPointer(start: memory + padding, count: byteCount)
        message.header.write(to: bytes)
        UnsafeMutableRawBufferPointer(rebasing: bytes[MessageHeader.byteCount...]).copyBytes(from: message.payload)
    }

    deinit { memory.deallocate() }

    /// The message's first byte. Only the service thread writes, and only before it.
    var start: UnsafeMutablePointer<UInt8> {
        (memory + cws_padding()).assumingMemoryBound(to: UInt8.self)
    }
}
