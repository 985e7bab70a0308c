import CWebSockets
import PreviewProtocol
import WebProtocol

/// A message as it goes over the wire: the head of a WebSocket's frame, then its bytes, with the room before them that
/// libwebsockets wants.
///
/// Several connections may send one message: all of them write on the service thread, one after another, and
/// libwebsockets copies what it cannot send at once.
final class WireMessage: @unchecked Sendable {
    /// Bytes of the frame.
    let byteCount: Int
    private let memory: UnsafeMutableRawPointer

    /// - Parameter version: Of the protocol that those who get it speak.
    init(_ message: PreviewMessage, version: UInt8) {
        let padding = cws_padding()
        let messageByteCount = MessageHeader.byteCount + message.payload.count
        let head = WebSocketFrameHead.binary(byteCount: messageByteCount)
        byteCount = head.count + messageByteCount
        memory = .allocate(byteCount: padding + byteCount, alignment: 16)
        UnsafeMutableRawBufferPointer(start: memory + padding, count: head.count).copyBytes(from: head)
        let bytes = UnsafeMutableRawBufferPointer(start: memory + padding + head.count, count: messageByteCount)
        var header = message.header
        header.version = version
        header.write(to: bytes)
        UnsafeMutableRawBufferPointer(rebasing: bytes[MessageHeader.byteCount...]).copyBytes(from: message.payload)
    }

    deinit { memory.deallocate() }

    /// The frame's first byte. Only the service thread writes, and only before it.
    var start: UnsafeMutablePointer<UInt8> {
        (memory + cws_padding()).assumingMemoryBound(to: UInt8.self)
    }
}
